import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

const RESOLUTION_MS = 20;

/** A turn may take this long before heartbeats and handshakes time out. */
const LONGEST_MS = 1_000;

/** The shortest of this many samples counts: a single pause is no pressure, one pause after the other for 2 s is. */
const SAMPLES = 8;

const NS_PER_MS = 1e6;

/** How late the event loop comes to its timers. */
export class LoopDelay {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #last: number[] = [];
  /** ms. */
  #sampledAt = performance.now();

  start(): void {
    this.#sampledAt = performance.now();
    this.#histogram.enable();
  }

  stop(): void {
    this.#histogram.disable();
  }

  /** Returns the delay as a share of LONGEST_MS. To be called once a sample. */
  sample(): number {
    const { mean } = this.#histogram;
    this.#histogram.reset();
    const now = performance.now();
    // A value takes two turns after a reset. Without one, the loop has had at most one turn since the last sample.
    const turn = Number.isNaN(mean) ? now - this.#sampledAt : mean / NS_PER_MS;
    this.#sampledAt = now;
    const delay = Math.max(0, turn - RESOLUTION_MS);
    this.#last = [...this.#last.slice(1 - SAMPLES), delay];
    return this.#last.length < SAMPLES ? 0 : Math.min(...this.#last) / LONGEST_MS;
  }
}
