interface Options {
  readonly firstMs: number;
  readonly maxMs: number;
  /** 0 to 1, like Math.random. */
  readonly random: () => number;
}

/**
 * How long to wait before each further attempt: doubling up to a bound, and between half of it and all of it, so that
 * pods that failed together don't come back together.
 */
export class Backoff {
  readonly #options: Options;
  #next: number;

  constructor(options: Options) {
    this.#options = options;
    this.#next = options.firstMs;
  }

  /** ms */
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
