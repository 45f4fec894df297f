import { LinkedQueue } from './linked-queue.ts';

/**
 * Lets at most so many pieces of work run at once, and at most so many wait for their turn, first come, first served.
 *
 * Own code: undici's pool queues without bound; neither it nor cockatiel's bulkhead or p-limit lets work that waits
 * leave before its turn, nor starts work without a promise.
 */
export class Limiter {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting = new LinkedQueue<() => void>();
  #running = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a place and takes it.
   *
   * @returns false if as many wait already as may, or if the signal aborted first; if true, `release` must follow
   */
  enter(signal: AbortSignal): boolean | Promise<boolean> {
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
      return true;
    }
    if (signal.aborted || this.#waiting.size >= this.#maxWaiting) return false;
    return new Promise((resolve) => {
      const place = this.#waiting.push(() => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      });
      const leave = (): void => {
        this.#waiting.remove(place);
        resolve(false);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Gives a place back, to the work that has waited longest if any waits. */
  release(): void {
    const start = this.#waiting.shift();
    if (start === undefined) this.#running -= 1;
    else start();
  }
}
