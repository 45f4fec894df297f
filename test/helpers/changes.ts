import { EventEmitter, once } from 'node:events';
import { PATIENCE_MS } from './eventually.ts';

/** Waits for results of this process's events. A limit of time ends only waits for results that never come. */
export class Changes {
  readonly #events = new EventEmitter();

  /** Checks the conditions of all waits again. */
  emit(): void {
    this.#events.emit('change');
  }

  /** @returns the first defined result of `find`, now or after a change. @param expected the error's text */
  async until<T>(find: () => T | undefined, expected: () => string): Promise<T> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await once(this.#events, 'change', { signal }).catch((cause: unknown) => {
        throw new Error(expected(), { cause });
      });
    }
  }
}
