import { ClientShares } from '../support/client-shares.ts';

/** How many channels may be kept, and for how long after they have been left. */
export interface KeptLimits {
  /** Default: no limit. */
  readonly maxKept?: number;
  /** How long the bus stays subscribed to a channel that has been left: ms. Default: not at all. */
  readonly lingerMs?: number;
}

/** A channel that has been left. */
interface LeftChannel {
  readonly until: number;
  readonly client: string | undefined;
}

/**
 * The channels of which the bus keeps messages since this pod has subscribed to them: those that it is subscribed to, and
 * those that it has left, for as long as what was kept of them may still be there. Each takes memory in Redis, or here with
 * the memory bus, so there is a most of them, however fast clients subscribe to further channels and leave them.
 */
export class KeptChannels {
  readonly #limits: Required<KeptLimits>;
  readonly #now: () => number;
  #subscribed = 0;
  /** Queues by how long channels are kept, each in the order in which their times end. */
  readonly #left = new Map<number, Map<string, LeftChannel>>();
  /** The shares of clients, which count on after these have gone. */
  readonly shares = new ClientShares();

  /** @param now ms, of a monotonic clock */
  constructor({ maxKept = Infinity, lingerMs = 0 }: KeptLimits, now: () => number) {
    this.#limits = { maxKept, lingerMs };
    this.#now = now;
  }

  /** How many further ones there may be. */
  get room(): number {
    this.#forgetOld();
    let left = 0;
    for (const names of this.#left.values()) left += names.size;
    return this.#limits.maxKept - this.#subscribed - left;
  }

  /** Whether the channel, which this pod is not subscribed to, is kept since it was. */
  has(name: string): boolean {
    const now = this.#now();
    for (const names of this.#left.values()) if ((names.get(name)?.until ?? 0) > now) return true;
    return false;
  }

  /** How long a channel counts that is left, which is kept for so long then: ms. */
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
   * @param keptMs how long it is kept from when the bus has left it
   * @param client that it was subscribed to for
   */
  left(name: string, keptMs: number, client?: string): void {
    this.#subscribed -= 1;
    this.#forgetOld();
    const names = this.#left.get(keptMs) ?? new Map<string, LeftChannel>();
    this.#left.set(keptMs, names.set(name, { until: this.#now() + this.countsFor(keptMs), client }));
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
