import type { ExecutionResult } from 'graphql';

/** What graphql-ws iterates over for one subscription, and where a group delivers its results. */
export interface ResultStream<Shared> extends AsyncIterableIterator<ExecutionResult, undefined> {
  deliver(shared: Shared): void;
}
