import type { ExecutionResult } from 'graphql';
import type { SerializedResult } from '../../../src/hub/result.ts';
import type { Member } from './result-stream.ts';

/** Yields nothing to graphql-ws, and stays pending until the subscription ends: results go past it. */
export class PendingResults implements Member<SerializedResult> {
  readonly deliver: (payload: SerializedResult) => void;
  readonly #left: () => void;
  #end: ((result: IteratorReturnResult<undefined>) => void) | undefined;

  constructor(deliver: (payload: SerializedResult) => void, left: () => void) {
    this.deliver = deliver;
    this.#left = left;
  }

  next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    return new Promise((resolve) => (this.#end = resolve));
  }

  return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#left();
    this.#end?.({ done: true, value: undefined });
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
