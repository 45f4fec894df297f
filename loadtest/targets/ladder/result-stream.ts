import type { ExecutionResult } from 'graphql';

/** The results of one subscription: graphql-ws iterates over them, and a group delivers them. */
export interface ResultStream<Shared> extends AsyncIterableIterator<ExecutionResult, undefined> {
  deliver(shared: Shared): void;
}
