import type { ExecutionResult } from 'graphql';
import type { ResultStream } from './result-stream.ts';

/** Results that wait until graphql-ws asks for them. */
export class ResultQueue implements ResultStream<ExecutionResult> {
  readonly #onReturn: () => void;
  readonly #results: ExecutionResult[] = [];
  #waiting: ((result: IteratorResult<ExecutionResult, undefined>) => void) | undefined;
  #done = false;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  deliver(result: ExecutionResult): void {
    if (this.#waiting === undefined) {
      this.#results.push(result);
      return;
    }
    const resolve = this.#waiting;
    this.#waiting = undefined;
    resolve({ done: false, value: result });
  }

  next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const value = this.#results.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#done) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#onReturn();
    this.#done = true;
    this.#results.length = 0;
    this.#waiting?.({ done: true, value: undefined });
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
