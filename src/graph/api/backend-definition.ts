import type { KeyStyle } from '../../events/event.ts';

export type HeaderRecord = Readonly<Record<string, string>>;

/** What a graph's author says of one back end: `defineGraph({ backends: { listings: { url, … } } })`. */
export interface BackendDefinition {
  /**
   * Base URL, http or https, without credentials, query and fragment; paths are joined to it. Undefined, as an environment
   * variable that is not set, stops the start.
   */
  readonly url: string | undefined;
  /**
   * Sent with each call: credentials of the service, for example. A function is called once per call, may be asynchronous,
   * and caches what it likes; if it fails, so does the call, as BACKEND_UNAVAILABLE.
   */
  readonly headers?: HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>);
  /**
   * Viewer values that travel as headers, and count as read by whoever calls. Absent and null ones are left out.
   *
   * - A list of paths: `token` becomes `authorization: Bearer …`, any other, such as `tenant.id`, `x-viewer-tenant-id`.
   * - A record `{ header: path }`: the value as it is.
   */
  readonly forward?: readonly string[] | HeaderRecord;
  /** Response keys: snake_case (`SNAKE`, the default) or as they come. */
  readonly keys?: KeyStyle;
  /** ms for a whole call: waiting, connecting, retries and reading. Default 5,000. */
  readonly timeoutMs?: number;
  /** ms until a connection stands, TLS included. Default 2,000. */
  readonly connectTimeoutMs?: number;
  /** ms from sending a request to the head of its response, for each try. Default: `timeoutMs`. */
  readonly headersTimeoutMs?: number;
  /** Further tries of idempotent calls after network errors, 502, 503 and 504. Default 2. */
  readonly retries?: number;
  /** Requests at once, each on a connection of its own. Default 50. */
  readonly maxConcurrency?: number;
  /** Calls that may wait behind those; one more fails at once with BACKEND_OVERLOADED. Default 1,000. */
  readonly maxWaiting?: number;
  /** Default 4 MiB. */
  readonly maxResponseBytes?: number;
  /** Failed requests in a row after which calls fail at once for a while. Default 10. */
  readonly breakerFailures?: number;
  /** ms until a trial request after that; doubles with each that fails, up to 30 s. Default 1,000. */
  readonly breakerOpenMs?: number;
}
