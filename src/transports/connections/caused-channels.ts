import type { Deadlines } from '../../support/deadlines.ts';

/** A channel whose messages are kept because one connection has subscribed to it. */
export interface CausedChannel {
  readonly name: string;
  readonly of: CausedChannels;
  readonly deadlines: Deadlines<CausedChannel>;
  /** Subscriptions of the connection that have it. */
  subscriptions: number;
  isLeft: boolean;
}

/**
 * The channels whose messages are kept because one connection has subscribed to them. They count as the connection's even
 * after it has left them, as long as they are kept. A channel that it subscribes to again counts once.
 */
export class CausedChannels {
  readonly #byName = new Map<string, CausedChannel>();
  /** How many of them the connection has left. */
  left = 0;

  /** @param deadlines until when left channels count */
  add(name: string, deadlines: Deadlines<CausedChannel>): void {
    // The channel may be here already: the hub's clock and the timers of deadlines differ by a moment.
    if (this.#byName.has(name)) return;
    this.#byName.set(name, { name, of: this, deadlines, subscriptions: 0, isLeft: false });
  }

  /** How many of these count already as left. */
  leftOf(names: readonly string[]): number {
    return names.filter((name) => this.#byName.get(name)?.isLeft).length;
  }

  /** The connection has one more subscription to these. */
  subscribed(names: readonly string[]): void {
    for (const name of names) {
      const channel = this.#byName.get(name);
      if (channel === undefined) continue;
      channel.subscriptions += 1;
      if (!channel.isLeft) continue;
      channel.isLeft = false;
      this.left -= 1;
      channel.deadlines.end(channel);
    }
  }

  /** One of the connection's subscriptions to these has ended. @returns how many of them are kept because of it */
  ended(names: readonly string[]): number {
    let count = 0;
    for (const name of names) {
      const channel = this.#byName.get(name);
      if (channel === undefined) continue;
      count += 1;
      channel.subscriptions -= 1;
      if (channel.subscriptions > 0) continue;
      this.left += 1;
      channel.isLeft = true;
      channel.deadlines.begin(channel);
    }
    return count;
  }

  /** It is not kept any more. */
  expired({ name }: CausedChannel): void {
    this.left -= 1;
    this.#byName.delete(name);
  }
}
