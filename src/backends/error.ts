import { GraphQLError } from 'graphql';

/** The ways in which a call to a back end fails, with the message for clients: causes stay in the gateway. */
const MESSAGES = {
  /** No connection; 502, 503 or 504 after all retries; or no request was sent as the circuit breaker is open. */
  BACKEND_UNAVAILABLE: 'is not available',
  /** No complete response within `timeoutMs`. */
  BACKEND_TIMEOUT: 'did not answer in time',
  /** More than `maxWaiting` calls wait in this pod, or the back end responded with 429. */
  BACKEND_OVERLOADED: 'has more requests than it can take',
  /** 404, in a call without `nullIfNotFound`. */
  BACKEND_NOT_FOUND: 'has nothing there',
  /** Any other 4xx. */
  BACKEND_REJECTED: 'rejected the request',
  /** Any other 5xx. */
  BACKEND_FAILED: 'failed',
  /** A response that can't be used: not JSON, too large, a redirect, or after too many interim responses. */
  BACKEND_BAD_RESPONSE: 'gave an answer that cannot be used',
  /**
   * The graph's code made a request that can't be sent: an unsafe path, a header with a line break, a body not JSON.
   */
  BACKEND_BAD_REQUEST: 'was asked for something that cannot be sent',
  /** The execution was aborted, or the gateway stops. */
  BACKEND_ABORTED: 'is no longer waited for',
} as const;

export type BackendErrorCode = keyof typeof MESSAGES;

export function isBackendErrorCode(code: unknown): code is BackendErrorCode {
  return typeof code === 'string' && Object.hasOwn(MESSAGES, code);
}

interface Details {
  /** HTTP status, if there was a response. */
  readonly status?: number;
  /** For the log only. */
  readonly cause?: unknown;
  /** s, from the response's Retry-After. */
  readonly retryAfter?: number | undefined;
}

/**
 * A failed call as a GraphQL error. `extensions` contain `code`, `backend` (the name) and, if there was a response, its
 * `status`; the `cause` is neither sent by graphql-js nor written by JSON.stringify.
 */
export class BackendError extends GraphQLError {
  readonly code: BackendErrorCode;
  declare readonly cause: unknown;
  /** s; undefined without a Retry-After header */
  readonly retryAfter: number | undefined;

  constructor(code: BackendErrorCode, backend: string, { status, cause, retryAfter }: Details = {}) {
    super(`The back end ${backend} ${MESSAGES[code]}.`, {
      extensions: status === undefined ? { code, backend } : { code, backend, status },
    });
    this.code = code;
    this.retryAfter = retryAfter;
    // The cause is no `originalError`, since graphql-js would take over its stack and extensions.
    Object.defineProperty(this, 'cause', { value: cause, enumerable: false });
  }

  get status(): number | undefined {
    return this.extensions['status'] as number | undefined;
  }
}
