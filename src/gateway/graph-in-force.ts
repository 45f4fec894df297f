import { systemClock, type Clock } from '../support/clock.ts';
import type { RunningGraph } from './running-graph.ts';

/** How long a graph that was replaced may still be asked for what it has begun, without being looked at. */
const LEAST_MS = 5_000;

/** How often it is looked whether all that it has begun is done. */
const LOOK_MS = 250;

/**
 * The graph that is in force, read anew by all that serves clients for each operation that begins. What was begun with
 * the one before ends with it: its back ends are closed once that is over.
 */
export class GraphInForce {
  #current: RunningGraph;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #stopping = new AbortController();
  /** Resolves when all replaced graphs are closed. They are closed one after the other: a back end may have gone on from one to the next. */
  #retired: Promise<unknown> = Promise.resolve();

  constructor(first: RunningGraph, clock: Pick<Clock, 'sleep'> = systemClock) {
    this.#current = first;
    this.#clock = clock;
  }

  get current(): RunningGraph {
    return this.#current;
  }

  /** @param isDone whether all that has begun with the graph until now is over, but for its queries */
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
