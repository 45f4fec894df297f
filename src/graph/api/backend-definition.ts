import type { KeyStyle } from '../../events/event.ts';

export type HeaderRecord = Readonly<Record<string, string>>;

/** How a graph author defines one back end: `defineGraph({ backends: { listings: { url, … } } })`. */
export interface BackendDefinition {
  /**
   * Base URL, http or https, without credentials, query and fragment; the path of each call is appended to it.
   * Without a URL (its environment variable is not set, for example) the gateway does not start.
   */
  readonly url: string | undefined;
  /**
   * Headers sent with each call, by name: credentials of the gateway, for example. A function is called once per call
   * and may be asynchronous; it has to do its own caching. If it throws or rejects, the call fails with
   * BACKEND_UNAVAILABLE.
   */
  readonly headers?: HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>);
  /**
   * Viewer values sent as headers. Each call of the back end counts as a read of these values. Absent and null values
   * are left out; an object or a list fails the call with BACKEND_BAD_REQUEST.
   *
   * - A list of paths: `token` becomes `authorization: Bearer …`; any other path, such as `tenant.id`, becomes the
   *   header `x-viewer-tenant-id`.
   * - A record `{ header: path }`: the header gets the value as it is.
   */
  readonly forward?: readonly string[] | HeaderRecord;
  /**
   * Keys of responses: converted to snake_case (`SNAKE`) or as the back end sends them (`KEEP`).
   *
   * @default 'SNAKE'
   */
  readonly keys?: KeyStyle;
  /**
   * ms for a whole call: waiting for a connection, connecting, retries and reading the response.
   *
   * @default 5_000
   */
  readonly timeoutMs?: number;
  /**
   * ms for making a connection, TLS included.
   *
   * @default 2_000
   */
  readonly connectTimeoutMs?: number;
  /**
   * ms from sending a request to the head of its response, for each attempt.
   *
   * @default timeoutMs
   */
  readonly headersTimeoutMs?: number;
  /**
   * Number of further attempts of idempotent calls after network errors, 502, 503 and 504.
   *
   * @default 2
   */
  readonly retries?: number;
  /**
   * Number of concurrent requests, each on a connection of its own.
   *
   * @default 50
   */
  readonly maxConcurrency?: number;
  /**
   * Number of calls that may wait while `maxConcurrency` requests run; one more fails at once with BACKEND_OVERLOADED.
   *
   * @default 1_000
   */
  readonly maxWaiting?: number;
  /**
   * Maximum size of a response's body; a larger one fails the call with BACKEND_BAD_RESPONSE.
   *
   * @default 4 MiB
   */
  readonly maxResponseBytes?: number;
  /**
   * Number of consecutive failed requests that opens the circuit breaker: further calls fail at once with
   * BACKEND_UNAVAILABLE.
   *
   * @default 10
   */
  readonly breakerFailures?: number;
  /**
   * ms from the opening of the circuit breaker to a trial request; doubles with each failed trial, up to 30 s.
   *
   * @default 1_000
   */
  readonly breakerOpenMs?: number;
}
