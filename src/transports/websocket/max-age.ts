/** Part of the greatest age over which the ends are spread: those who came together don't leave together. */
const SPREAD = 0.2;

interface Ageing {
  /** What `end` gave when it began. */
  readonly endsAt: number;
}

/** How old connections may become. Each holds one small integer for it, and there are no timers. */
export class Ages {
  readonly #maxSeconds: number;
  readonly #now: () => number;
  readonly #random: () => number;

  /**
   * @param maxSeconds 0: any age
   * @param now ms, of a clock that is never set: connections must not all be old because the time was wrong before
   */
  constructor(maxSeconds: number, now: () => number = () => performance.now(), random = Math.random) {
    this.#maxSeconds = maxSeconds;
    this.#now = now;
    this.#random = random;
  }

  get limited(): boolean {
    return this.#maxSeconds > 0;
  }

  /** When a connection that begins now is to end. */
  end(): number {
    if (!this.limited) return 0;
    return this.#second() + Math.ceil(this.#maxSeconds * (1 - SPREAD * this.#random()));
  }

  /**
   * Those whose end has come.
   *
   * @param connections in the order in which they began, so that the young ones at the end need not be looked at
   */
  over<T extends Ageing>(connections: Iterable<T>): T[] {
    const second = this.#second();
    const ended: T[] = [];
    for (const connection of connections) {
      if (connection.endsAt <= second) ended.push(connection);
      // Whoever began later ends at most the spread earlier.
      else if (connection.endsAt - Math.ceil(this.#maxSeconds * SPREAD) > second) break;
    }
    return ended;
  }

  #second(): number {
    return Math.floor(this.#now() / 1000);
  }
}
