import type { Clock } from '../../support/clock.ts';

interface Options<T> {
  readonly close: (one: T) => void;
  readonly perSecond: number;
  readonly clock: Clock;
}

/** Steps are at least so far apart: a rate of more than 100 a second closes several connections in each. */
const SHORTEST_STEP_MS = 10;

/**
 * Closes connections at a bounded rate, since their clients connect again at once and ask back ends. The order is random,
 * so that no client always waits longest.
 */
export class PacedClose<T extends object> {
  readonly #close: (one: T) => void;
  readonly #clock: Clock;
  readonly #perStep: number;
  readonly #stepMs: number;
  readonly #waiting = new Set<T>();
  /** In random order, the next one last. Some may have been removed from those that wait. */
  #order: T[] = [];
  readonly #stopping = new AbortController();
  #running = false;

  constructor({ close, perSecond, clock }: Options<T>) {
    this.#close = close;
    this.#clock = clock;
    this.#perStep = Math.ceil((perSecond * SHORTEST_STEP_MS) / 1000);
    this.#stepMs = Math.ceil((1000 * this.#perStep) / perSecond);
  }

  /** A connection that waits already is closed once, in its turn. */
  add(one: T): void {
    if (this.#stopping.signal.aborted || this.#waiting.has(one)) return;
    this.#waiting.add(one);
    const index = Math.floor(this.#clock.random() * (this.#order.length + 1));
    const displaced = this.#order[index];
    this.#order[index] = one;
    if (displaced !== undefined) this.#order.push(displaced);
    if (!this.#running) void this.#run();
  }

  /** Removes a connection: it has closed by itself, for example. */
  remove(one: T): void {
    if (!this.#waiting.delete(one)) return;
    // Otherwise connections that have long closed would be held until their turn, perhaps for hours.
    if (this.#order.length > 2 * this.#waiting.size) {
      this.#order = this.#order.filter((other) => this.#waiting.has(other));
    }
  }

  /** Closes none of those that wait, and none that are added later. */
  stop(): void {
    this.#stopping.abort();
    this.#waiting.clear();
    this.#order = [];
  }

  async #run(): Promise<void> {
    this.#running = true;
    const { signal } = this.#stopping;
    // At random, since several pods may have begun at the same time.
    await this.#clock.sleep(this.#clock.random() * this.#stepMs, signal);
    while (this.#waiting.size > 0) {
      this.#step();
      // Sleeps after the last one, too: connections that are added meanwhile keep to the rate.
      await this.#clock.sleep(this.#stepMs, signal);
    }
    this.#order = [];
    this.#running = false;
  }

  #step(): void {
    for (let left = this.#perStep; left > 0;) {
      const one = this.#order.pop();
      if (one === undefined) return;
      if (!this.#waiting.delete(one)) continue;
      this.#close(one);
      left -= 1;
    }
  }
}
