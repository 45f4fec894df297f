import type { Timer, VirtualTime } from '../time/virtual-time.ts';

/** The repairs of faults, which run after their times, or at the end. */
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

  /** Runs the oldest repair now. */
  next(): void {
    for (const [timer, repair] of this.#open) {
      this.#open.delete(timer);
      this.#time.cancel(timer);
      repair();
      return;
    }
  }
}
