import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Metrics } from '../metrics.ts';
import type { FairLimiter, WorkOwner } from '../support/fair-limiter.ts';
import { withTimeout } from '../support/with-timeout.ts';
import type { Execution } from './execution.ts';

/** What the asynchronous executions of a pod are bounded by: those of events, queries and mutations alike. */
export interface ExecutionBounds {
  readonly limiter: FairLimiter;
  readonly metrics: Metrics;
  /** How long one may take. */
  readonly timeoutMs: number;
}

const TOOK_TOO_LONG = {
  event: (ms: number) => `The event took longer than ${ms} ms to resolve.`,
  operation: (ms: number) => `The operation took longer than ${ms} ms to resolve.`,
};

/** What is executed, as clients are told. */
type Subject = keyof typeof TOOK_TOO_LONG;

/**
 * Takes a place for an asynchronous execution, until it is over or its time is: then it is aborted, and its later result
 * is discarded. One that is aborted before, since its clients have left, keeps its place until then: its resolvers may
 * go on, and a client that begins and leaves again and again would have any number of them run.
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
