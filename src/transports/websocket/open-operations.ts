import { SmallSet } from '../../support/small-set.ts';
import type { Tally, ViewerTally } from './viewers.ts';

/**
 * The ids of one connection's operations, from `subscribe` until graphql-ws is done with them, which is later than
 * `complete`; and how many they are, for the process and the viewer.
 */
export class OpenOperations extends SmallSet {
  readonly #process: Tally;
  /** Undefined while no viewer is known, or for one that nothing identifies. */
  viewer: ViewerTally | undefined;

  constructor(process: Tally) {
    super();
    this.#process = process;
  }

  begin(id: string): void {
    this.add(id);
    this.#count(1);
  }

  /** Of a connection that has closed, all operations are done already. */
  done(id: string): void {
    if (!this.has(id)) return;
    this.delete(id);
    this.#count(-1);
  }

  /** The connection has closed. */
  end(): void {
    this.#count(-this.size);
    this.clear();
  }

  #count(operations: number): void {
    this.#process.operations += operations;
    if (this.viewer !== undefined) this.viewer.operations += operations;
  }
}
