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

  get left(): number {
    return this.#open.size;
  }

  /** Does the one that has waited longest now. */
  next(): void {
    for (const [timer, repair] of this.#open) {
      this.#open.delete(timer);
      this.#time.cancel(timer);
      repair();
      return;
    }
  }
}
