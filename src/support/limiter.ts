/**
 * At most so many at once, and at most so many waiting for their turn, in order.
 *
 * Own code: undici's pool queues without bound, and neither it nor cockatiel's bulkhead or p-limit lets one that waits
 * leave before its turn.
 */
export class ConcurrencyLimit {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a place.
   *
   * @returns false if as many wait already as may, or if the signal aborted first; if true, release must follow
   */
  enter(signal: AbortSignal): boolean | Promise<boolean> {
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
      return true;
    }
    if (signal.aborted || this.#waiting.size >= this.#maxWaiting) return false;
    return new Promise((resolve) => {
      const go = (): void => resolve(true);
      const leave = (): void => {
        this.#waiting.delete(go);
        resolve(false);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(go);
    });
  }

  /** Hands the place to whoever has waited longest. */
  release(): void {
    for (const go of this.#waiting) {
      this.#waiting.delete(go);
      go();
      return;
    }
    this.#running -= 1;
  }
}
