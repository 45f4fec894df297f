import { LinkedQueue } from './linked-queue.ts';

/**
 * Limits how many pieces of work run at once, and how many wait for their turn, first come, first served.
 *
 * Own code: undici's pool queues without bound. Neither this pool nor cockatiel's bulkhead or p-limit lets waiting work
 * leave before its turn, or starts work without a promise.
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
   * @returns false if the queue is full, or if the signal aborted first; if true, `release` must follow
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
