import type { Timer, VirtualTime } from '../time/virtual-time.ts';

/** What is to be righted after its time, or when all is healed. */
export class Repairs {
  readonly #time: VirtualTime;
  readonly #open = new Map<Timer, () => void>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  after(ms: number, repair: () => void): void {
    const timer = this.#time.after(ms, undefined, () => {
      this.#open.delete(timer);
      repair();
    });
    this.#open.set(timer, repair);
  }

  /** Does all of it now. */
  all(): void {
    while (this.#open.size > 0) {
      for (const [timer, repair] of this.#open) {
        this.#open.delete(timer);
        this.#time.cancel(timer);
        repair();
      }
    }
  }
}
