import { GraphQLError } from 'graphql';

/** The ways in which a call to a back end fails, and what a client is told. Nothing else leaves the gateway. */
const MESSAGES = {
  /** Not reached, 502, 503 or 504 after all retries, or not tried since its circuit breaker is open. */
  BACKEND_UNAVAILABLE: 'is not available',
  /** No whole answer within the call's time. */
  BACKEND_TIMEOUT: 'did not answer in time',
  /** Too many calls wait for it in this pod already, or it said 429. */
  BACKEND_OVERLOADED: 'has more requests than it can take',
  /** 404, where the caller did not say `nullIfNotFound`. */
  BACKEND_NOT_FOUND: 'has nothing there',
  /** Any other 4xx. */
  BACKEND_REJECTED: 'rejected the request',
  /** Any other 5xx. */
  BACKEND_FAILED: 'failed',
  /** Not JSON, too large, a redirect: an answer that can't be used. */
  BACKEND_BAD_RESPONSE: 'gave an answer that cannot be used',
  /** The graph asked for what can't be sent: an unsafe path, a header with a line break, a body that is not JSON. */
  BACKEND_BAD_REQUEST: 'was asked for something that cannot be sent',
  /** The execution was given up, or the gateway stops. */
  BACKEND_ABORTED: 'is no longer waited for',
} as const;

export type BackendErrorCode = keyof typeof MESSAGES;

interface Details {
  /** HTTP status, if there was an answer. */
  readonly status?: number;
  /** For the log only. */
  readonly cause?: unknown;
  /** s, from Retry-After. */
  readonly retryAfter?: number | undefined;
}

/**
 * A failed call as a GraphQL error. `extensions` hold `code`, `backend` and, if there was one, `status`; what led to it is
 * in `cause`, which neither graphql-js nor JSON.stringify shows.
 */
export class BackendError extends GraphQLError {
  readonly code: BackendErrorCode;
  declare readonly cause: unknown;
  /** s; undefined if the back end didn't say */
  readonly retryAfter: number | undefined;

  constructor(code: BackendErrorCode, backend: string, { status, cause, retryAfter }: Details = {}) {
    super(`The back end ${backend} ${MESSAGES[code]}.`, {
      extensions: status === undefined ? { code, backend } : { code, backend, status },
    });
    this.code = code;
    this.retryAfter = retryAfter;
    // Not as `originalError`: graphql-js would take over its stack and extensions.
    Object.defineProperty(this, 'cause', { value: cause, enumerable: false });
  }

  get status(): number | undefined {
    return this.extensions['status'] as number | undefined;
  }
}
