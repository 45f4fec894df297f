import type { ExecutionResult } from 'graphql';

/** A subscriber to which results are given, and what graphql-ws iterates over for it. */
export interface Member<Shared> extends AsyncIterableIterator<ExecutionResult, undefined> {
  deliver(shared: Shared): void;
}
