import type { Timers } from '../support/clock.ts';

interface Timer {
  /** ms since 1970 */
  readonly at: number;
  readonly callback: () => void;
}

/** Time that stands still until a test lets it go on. */
export class VirtualClock implements Timers {
  #now: number;
  readonly #timers = new Set<Timer>();

  /** @param start ms since 1970 */
  constructor(start: number) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /**
   * Runs the timers that are due within `ms`, including timers that begin meanwhile, each at its time.
   *
   * @param ms from now
   * @throws RangeError if `ms` is not a number of 0 or more
   * @param settled resolves when what a timer has begun is done
   */
  async advance(ms: number, settled: () => Promise<void>): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`expected a time of 0 ms or more, got ${ms}`);
    const end = this.#now + ms;
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#now = timer.at;
      timer.callback();
      await settled();
    }
    this.#now = end;
  }

  /** The timer that is due first; among equals, the timer that began first. */
  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end);
    return due.toSorted((a, b) => a.at - b.at)[0];
  }
}
