import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Metrics } from '../metrics.ts';
import type { FairLimiter, WorkOwner } from '../support/fair-limiter.ts';
import { withTimeout } from '../support/with-timeout.ts';
import type { Execution } from './execution.ts';

/** Limits of all asynchronous executions of a pod: those of events, queries and mutations. */
export interface ExecutionBounds {
  readonly limiter: FairLimiter;
  readonly metrics: Metrics;
  /** How long one execution may take. */
  readonly timeoutMs: number;
}

const TOOK_TOO_LONG = {
  event: (ms: number) => `The event took longer than ${ms} ms to resolve.`,
  operation: (ms: number) => `The operation took longer than ${ms} ms to resolve.`,
};

/** The name of the executed thing in errors for clients. */
type Subject = keyof typeof TOOK_TOO_LONG;

/**
 * Takes a place for an asynchronous execution until the execution is over or times out: then it is aborted, and its
 * later result is discarded. An execution that is aborted before, as its clients have left, still keeps its place: its
 * resolvers may go on, and a client that begins and leaves again and again could make any number of resolvers run.
 *
 * @param result never rejects
 * @param owner see FairLimiter
 * @returns never rejects
 */
export function boundedExecution(
  result: Promise<ExecutionResult>,
  execution: Pick<Execution, 'abort'>,
  owner: WorkOwner,
  subject: Subject,
  { limiter, metrics, timeoutMs }: ExecutionBounds,
): Promise<ExecutionResult> {
  limiter.take(owner);
  return withTimeout(result, timeoutMs, () => {
    metrics.executionTimeouts.inc();
    const error = new GraphQLError(TOOK_TOO_LONG[subject](timeoutMs), {
      extensions: { code: 'EXECUTE_TIMEOUT' },
    });
    execution.abort(error);
    return { errors: [error], data: null };
  }).finally(() => limiter.release(owner));
}
