import type { ExecutionResult } from 'graphql';
import type { PendingQuery } from '../../context/pending-query.ts';

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * A query or mutation on a WebSocket that is not over at once: for graphql-ws, an iterable of one result. graphql-ws calls
 * `return` when the client sends `complete`, or its socket is closed.
 */
export class WebSocketQuery implements AsyncIterableIterator<ExecutionResult, undefined> {
  #pending: PendingQuery | undefined;

  constructor(pending: PendingQuery) {
    this.#pending = pending;
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const value = await this.#pending?.result();
    this.#pending = undefined;
    return value === undefined ? DONE : { value };
  }

  return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#pending?.cancel();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
