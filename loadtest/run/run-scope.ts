import type { Scope } from '../../test/helpers/scope.ts';

/** A scope outside of tests. Its cleanups run in reverse order. */
export class RunScope implements Scope {
  readonly #cleanups: (() => unknown)[] = [];

  after(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  /** Runs all cleanups, even after failures; throws the first failure. */
  async end(): Promise<void> {
    const failures: unknown[] = [];
    for (const cleanup of this.#cleanups.splice(0).toReversed()) {
      try {
        await cleanup();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
