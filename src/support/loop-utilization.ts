import { performance } from 'node:perf_hooks';

/** Milliseconds since the event loop began. */
interface LoopTimes {
  readonly idle: number;
  readonly active: number;
}

/** Shorter ones tell more of the moment than of the load. */
const SHORTEST_WINDOW_MS = 5_000;

/**
 * The share of its time in which the event loop was busy, from 0 to 1. Near 1 a process takes no more, however many
 * cores the machine has.
 *
 * It is measured from one read to the next, but over no less than the shortest window: until that is full, the value is
 * that of the window before. So several readers may read it, each at its own pace, and none cuts another's window short.
 */
export class LoopUtilization {
  readonly #read: () => LoopTimes;
  #start: LoopTimes;
  #value: number | undefined;

  constructor(read: () => LoopTimes = () => performance.eventLoopUtilization()) {
    this.#read = read;
    this.#start = read();
  }

  get value(): number {
    const end = this.#read();
    const active = end.active - this.#start.active;
    // The difference first: the sum would be rounded, and the share come to more than 1.
    const idle = end.idle - this.#start.idle;
    const windowMs = active + idle;
    const value = windowMs > 0 ? active / windowMs : 0;
    // In the first window there is no better answer than what there is of it.
    if (windowMs < SHORTEST_WINDOW_MS) return this.#value ?? value;
    this.#start = end;
    this.#value = value;
    return value;
  }
}
