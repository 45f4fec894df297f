import { EventEmitter, once } from 'node:events';
import { PATIENCE_MS } from './eventually.ts';

/** Waits for what events of this process bring. A bound on time ends only those for what would never come. */
export class Changes {
  readonly #events = new EventEmitter();

  /** Something may be so now. */
  emit(): void {
    this.#events.emit('change');
  }

  /** @returns what is found, now or after a change. @param expected what is told if it is not */
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
