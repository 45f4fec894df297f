export interface LogBound {
  /** Maximum lines in one period. */
  readonly lines: number;
  readonly periodMs: number;
  /** ms */
  readonly now: () => number;
}

/** Bounds how many lines one kind of event may log, however often it happens. A period begins with its first line. */
export class LogThrottle {
  readonly #bound: LogBound;
  #periodEnd = -Infinity;
  #lines = 0;
  #suppressed = 0;

  constructor(bound: LogBound) {
    this.#bound = bound;
  }

  /** @returns the number of lines suppressed in the period before; undefined if this line is to be suppressed too */
  admit(): number | undefined {
    const { lines, periodMs, now } = this.#bound;
    const time = now();
    if (time >= this.#periodEnd) {
      const suppressed = this.#suppressed;
      this.#periodEnd = time + periodMs;
      this.#lines = 1;
      this.#suppressed = 0;
      return suppressed;
    }
    if (this.#lines < lines) {
      this.#lines += 1;
      return 0;
    }
    this.#suppressed += 1;
    return undefined;
  }
}
