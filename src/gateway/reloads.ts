import { messageOf } from '../errors.ts';
import { BadGraph } from '../graph/loader/load-graph.ts';
import type { Log } from '../log.ts';
import { beginCount, tellRefusal, type Counted } from './reload-counts.ts';

interface ReloadsOptions {
  /** Loads the graph again and puts it in force. If it throws, nothing has changed. */
  readonly reload: () => Promise<object>;
  readonly metrics: Counted;
  readonly log: Log;
}

/** Reloads of the graph, one at a time: all that are requested during a reload become a single one after it. */
export class Reloads {
  readonly #options: ReloadsOptions;
  #running: Promise<void> | undefined;
  #isAskedForAgain = false;

  constructor(options: ReloadsOptions) {
    this.#options = options;
    beginCount(options.metrics);
  }

  /** Resolves once a graph that was read after this call is in force, or was refused. Never rejects. */
  request(): Promise<void> {
    this.#isAskedForAgain = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isAskedForAgain) {
      this.#isAskedForAgain = false;
      await this.#reload();
    }
  }

  async #reload(): Promise<void> {
    const { reload, metrics, log } = this.#options;
    try {
      const done = await reload();
      metrics.graphReloads.inc({ outcome: 'done' });
      log.info(done, 'the graph has been reloaded');
    } catch (error) {
      tellRefusal(error instanceof BadGraph ? error.faults : [messageOf(error)], metrics, log);
    }
  }
}
