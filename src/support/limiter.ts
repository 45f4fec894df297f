/**
 * Lets at most so many pieces of work run at once, and at most so many wait for their turn, first come, first served.
 *
 * Own code: undici's pool queues without bound; neither it nor cockatiel's bulkhead or p-limit lets work that waits
 * leave before its turn, nor starts work without a promise.
 */
export class Limiter {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  /** @param maxWaiting bounds `enter` only; callers of `whenFree` have a bound of their own */
  constructor(maxRunning: number, maxWaiting = Infinity) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for a place and takes it.
   *
   * @returns false if as many wait already as may, or if the signal aborted first; if true, `release` must follow
   */
  enter(signal: AbortSignal): boolean | Promise<boolean> {
    if (this.#running < this.#maxRunning) {
      this.take();
      return true;
    }
    if (signal.aborted || this.#waiting.size >= this.#maxWaiting) return false;
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.delete(start);
        resolve(false);
      };
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        this.take();
        resolve(true);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(start);
    });
  }

  /**
   * Calls `start` now, or when a place is free. It takes a place with `take` if its work turns out to need one.
   *
   * @param start another function for each call
   */
  whenFree(start: () => void): void {
    if (this.#running < this.#maxRunning) start();
    else this.#waiting.add(start);
  }

  take(): void {
    this.#running += 1;
  }

  /** Gives a place back, and starts what has waited longest: more than one, where that takes no place. */
  release(): void {
    this.#running -= 1;
    for (const start of this.#waiting) {
      if (this.#running >= this.#maxRunning) return;
      this.#waiting.delete(start);
      start();
    }
  }
}
