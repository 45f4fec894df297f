import type { Scope } from '../../test/helpers/scope.ts';

/** A scope outside of tests. What has been started last ends first. */
export class RunScope implements Scope {
  readonly #cleanups: (() => unknown)[] = [];

  after(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  /** What fails does not keep the rest from ending; the first failure is thrown. */
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
