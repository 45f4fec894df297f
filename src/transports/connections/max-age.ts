/** Fraction of the maximum age over which ends are spread: connections made together don't end together. */
const SPREAD = 0.2;

interface Expiring {
  /** What `ConnectionMaxAge.endsAt` gave when the connection was made. */
  readonly endsAt: number;
}

/** Limits the age of connections. Each holds one small integer for it, and there are no timers. */
export class ConnectionMaxAge {
  readonly #maxSeconds: number;
  readonly #now: () => number;
  readonly #random: () => number;

  /**
   * @param maxSeconds 0: no limit
   * @param now ms, of a monotonic clock: a correction of the system's time must not end all connections
   * @param random 0 to 1
   */
  constructor(maxSeconds: number, now: () => number = () => performance.now(), random = Math.random) {
    this.#maxSeconds = maxSeconds;
    this.#now = now;
    this.#random = random;
  }

  get limited(): boolean {
    return this.#maxSeconds > 0;
  }

  /** When a connection that is made now is to end, in seconds of `now`; 0 without a limit. */
  endsAt(): number {
    if (!this.limited) return 0;
    return this.#second() + Math.ceil(this.#maxSeconds * (1 - SPREAD * this.#random()));
  }

  /**
   * The connections that have reached their end.
   *
   * @param connections in the order in which they were made, so that the young ones at the end need not be looked at
   */
  expired<T extends Expiring>(connections: Iterable<T>): T[] {
    const second = this.#second();
    const ended: T[] = [];
    for (const connection of connections) {
      if (connection.endsAt <= second) ended.push(connection);
      // A connection made later ends at most the spread earlier.
      else if (connection.endsAt - Math.ceil(this.#maxSeconds * SPREAD) > second) break;
    }
    return ended;
  }

  #second(): number {
    return Math.floor(this.#now() / 1000);
  }
}
