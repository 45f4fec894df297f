interface Options {
  readonly firstMs: number;
  readonly maxMs: number;
  /** 0 to 1, like Math.random. */
  readonly random: () => number;
}

/**
 * Waits before further attempts. Each wait is random, between half of a bound and all of it; the bound doubles up to a
 * maximum. So pods that failed together don't come back together.
 */
export class Backoff {
  readonly #options: Options;
  #next: number;

  constructor(options: Options) {
    this.#options = options;
    this.#next = options.firstMs;
  }

  /** @returns the next wait, in ms */
  next(): number {
    const { maxMs, random } = this.#options;
    const wait = this.#next;
    this.#next = Math.min(wait * 2, maxMs);
    return wait / 2 + (random() * wait) / 2;
  }

  reset(): void {
    this.#next = this.#options.firstMs;
  }
}
