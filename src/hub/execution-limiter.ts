/**
 * Lets at most so many asynchronous executions run at once in a pod; the others wait their turn, first come, first
 * served. What waits is bounded by the groups: each has a bounded number of events under way.
 */
export class Limiter {
  readonly #limit: number;
  #running = 0;
  #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Calls `start` now, or when a place is free. Whoever is started takes a place with `take` if it needs one. */
  whenFree(start: () => void): void {
    if (this.#running < this.#limit) start();
    else this.#waiting.push(start);
  }

  take(): void {
    this.#running += 1;
  }

  give(): void {
    this.#running -= 1;
    this.#startWaiting();
  }

  /** Somebody who is started may need no place after all: then the next one is started too. */
  #startWaiting(): void {
    let started = 0;
    while (this.#running < this.#limit && started < this.#waiting.length) {
      this.#waiting[started]?.();
      started += 1;
    }
    if (started > 0) this.#waiting.splice(0, started);
  }
}
