import { ClientShares } from '../support/client-shares.ts';
import { Sweeper } from '../support/sweeper.ts';
import type { ChannelOffsets } from './dedupe.ts';

/** How many channels may be kept, and for how long after they have been left. */
export interface KeptLimits {
  /** Default: no limit. */
  readonly maxKept?: number;
  /** How long the bus stays subscribed to a channel that has been left: ms. Default: not at all. */
  readonly lingerMs?: number;
}

/** How often expired channels are forgotten while no client subscribes or leaves. */
const SWEEP_MS = 10_000;

/** A channel that has been left. */
interface LeftChannel {
  readonly until: number;
  readonly client: string | undefined;
  readonly offsets: ChannelOffsets | undefined;
}

/**
 * The channels whose messages the bus keeps because of this pod: those that the pod is subscribed to, and those that it has
 * left, as long as their messages may still be there. Each takes memory in Redis, or here with the memory bus, so their
 * number is limited, however fast clients subscribe to new channels and leave them.
 */
export class KeptChannels {
  readonly #limits: Required<KeptLimits>;
  readonly #now: () => number;
  #subscribed = 0;
  /** Queues by how long channels are kept, each in the order in which their times end. */
  readonly #left = new Map<number, Map<string, LeftChannel>>();
  readonly #sweeper = new Sweeper(SWEEP_MS, () => {
    this.#forgetOld();
    return this.#left.size > 0;
  });
  /** The shares of clients. They still count after the clients have gone. */
  readonly shares = new ClientShares();

  /** @param now ms, of a monotonic clock */
  constructor({ maxKept = Infinity, lingerMs = 0 }: KeptLimits, now: () => number) {
    this.#limits = { maxKept, lingerMs };
    this.#now = now;
  }

  /** How many more channels may be kept. */
  get room(): number {
    this.#forgetOld();
    let left = 0;
    for (const names of this.#left.values()) left += names.size;
    return this.#limits.maxKept - this.#subscribed - left;
  }

  /** Whether a channel that this pod has left is still kept. */
  has(name: string): boolean {
    return this.#leftChannel(name) !== undefined;
  }

  /** The offsets that a channel has carried which this pod has left, as long as it is kept: its events may come once more. */
  offsetsOf(name: string): ChannelOffsets | undefined {
    return this.#leftChannel(name)?.offsets;
  }

  /** How long a channel counts after it was left, if the bus keeps it for `keptMs`: ms. */
  countsFor(keptMs: number): number {
    return this.#limits.lingerMs + keptMs;
  }

  /** @param client see JoinOptions */
  subscribed(name: string, client?: string): void {
    this.#subscribed += 1;
    this.shares.count(client, 1);
    for (const names of this.#left.values()) this.#forget(name, names);
  }

  /**
   * @param keptMs how long it is kept after the bus has left it
   * @param client the client for which the pod subscribed to it
   * @param offsets what it has carried
   */
  left(name: string, keptMs: number, client?: string, offsets?: ChannelOffsets): void {
    this.#subscribed -= 1;
    this.#forgetOld();
    const names = this.#left.get(keptMs) ?? new Map<string, LeftChannel>();
    this.#left.set(keptMs, names.set(name, { until: this.#now() + this.countsFor(keptMs), client, offsets }));
    this.#sweeper.begin();
  }

  #leftChannel(name: string): LeftChannel | undefined {
    const now = this.#now();
    for (const names of this.#left.values()) {
      const left = names.get(name);
      if (left !== undefined && left.until > now) return left;
    }
    return undefined;
  }

  #forgetOld(): void {
    const now = this.#now();
    for (const [keptMs, names] of this.#left) {
      for (const [name, { until }] of names) {
        if (until > now) break;
        this.#forget(name, names);
      }
      if (names.size === 0) this.#left.delete(keptMs);
    }
  }

  #forget(name: string, names: Map<string, LeftChannel>): void {
    const left = names.get(name);
    if (left !== undefined && names.delete(name)) this.shares.count(left.client, -1);
  }
}
