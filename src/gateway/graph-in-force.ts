import { systemClock, type Clock } from '../support/clock.ts';
import type { RunningGraph } from './running-graph.ts';

/** The least time that a replaced graph stays open for operations that it has begun, before it is checked. */
const LEAST_MS = 5_000;

/** How often to check whether everything that it has begun is done. */
const LOOK_MS = 250;

/**
 * The graph in force. The parts that serve clients read it again for each new operation. Operations that began with the
 * previous graph end with it; then its back ends are closed.
 */
export class GraphInForce {
  #current: RunningGraph;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #stopping = new AbortController();
  /** Resolves when all replaced graphs are closed, one by one: a back end may go on from one to the next. */
  #retired: Promise<unknown> = Promise.resolve();

  constructor(first: RunningGraph, clock: Pick<Clock, 'sleep'> = systemClock) {
    this.#current = first;
    this.#clock = clock;
  }

  get current(): RunningGraph {
    return this.#current;
  }

  /** @param isDone whether everything that has begun with the previous graph is over, except its queries */
  replace(next: RunningGraph, isDone: () => boolean): void {
    const { queries, backends } = this.#current;
    const after = next.backends;
    this.#current = next;
    const isOver = this.#until(() => queries.isIdle && isDone());
    this.#retired = Promise.all([isOver, this.#retired]).then(() => backends.close(after));
  }

  start(): void {
    // Back ends connect when they are called.
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#retired;
    await this.#current.backends.close();
  }

  async #until(isOver: () => boolean): Promise<void> {
    const { signal } = this.#stopping;
    await this.#clock.sleep(LEAST_MS, signal);
    while (!signal.aborted && !isOver()) await this.#clock.sleep(LOOK_MS, signal);
  }
}
