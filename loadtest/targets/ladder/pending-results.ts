import type { ExecutionResult } from 'graphql';
import type { SerializedResult } from '../../../src/hub/result.ts';
import type { ResultStream } from './result-stream.ts';

/** Yields nothing to graphql-ws, and stays pending until the subscription ends: results go directly to the socket. */
export class PendingResults implements ResultStream<SerializedResult> {
  readonly deliver: (payload: SerializedResult) => void;
  readonly #onReturn: () => void;
  #end: ((result: IteratorReturnResult<undefined>) => void) | undefined;

  constructor(deliver: (payload: SerializedResult) => void, onReturn: () => void) {
    this.deliver = deliver;
    this.#onReturn = onReturn;
  }

  next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    return new Promise((resolve) => (this.#end = resolve));
  }

  return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#onReturn();
    this.#end?.({ done: true, value: undefined });
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
