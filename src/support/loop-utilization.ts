import { performance } from 'node:perf_hooks';

/** Milliseconds since the event loop began. */
interface LoopTimes {
  readonly idle: number;
  readonly active: number;
}

/** A shorter window would show the moment rather than the load. */
const SHORTEST_WINDOW_MS = 5_000;

/**
 * The share of its time in which the event loop was busy, from 0 to 1. Near 1 the process can do no more work, however
 * many cores the machine has.
 *
 * A read ends the window, unless the window is shorter than the minimum: then the value is that of the window before.
 * So several readers can read the value, each at its own pace, and none cuts another's window short.
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
    // Subtracts before adding: the sum of the totals would be rounded, and the share could exceed 1.
    const idle = end.idle - this.#start.idle;
    const windowMs = active + idle;
    const value = windowMs > 0 ? active / windowMs : 0;
    // In the first window, no other value is known than that of its elapsed part.
    if (windowMs < SHORTEST_WINDOW_MS) return this.#value ?? value;
    this.#start = end;
    this.#value = value;
    return value;
  }
}
