/** A token bucket: limits the amount taken per second; after a quiet time, a second's worth may be taken at once. */
export class Rate {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** When all that was taken is paid for, in ms of a monotonic clock. */
  #paidAt = 0;

  /** @param now a monotonic clock */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Whether anything may be taken now. */
  get open(): boolean {
    return this.#paidAt <= this.#now() + 1_000;
  }

  take(amount: number): void {
    this.#paidAt = Math.max(this.#paidAt, this.#now()) + (1_000 * amount) / this.#perSecond;
  }
}
