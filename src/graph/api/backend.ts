import type { JsonValue, KeyStyle } from '../../events/event.ts';

/** Parameters of a query string by name; null and undefined are left out, a list gives its parameter several times. */
export type Query = Readonly<
  Record<string, QueryValue | readonly (string | number | boolean)[] | null | undefined>
>;

type QueryValue = string | number | boolean;

export interface RequestOptions {
  readonly query?: Query;
  /** Headers by name; they override those of the back end's definition. */
  readonly headers?: Readonly<Record<string, string>>;
  /** ms for the whole call, waiting and retries included; overrides the definition's. From 1 to 2³¹ − 1. */
  readonly timeoutMs?: number;
  /**
   * Whether the request may be sent again after a failure.
   *
   * @default true for GET, PUT and DELETE; false for POST and PATCH
   */
  readonly idempotent?: boolean;
  /**
   * Whether a 404 resolves with null instead of rejecting.
   *
   * @default false
   */
  readonly nullIfNotFound?: boolean;
  /** Keys of the response; overrides the definition's. */
  readonly keys?: KeyStyle;
}

/**
 * One HTTP back end, as resolvers and loaders use it: `ctx.backends.<name>`.
 *
 * - `path` begins with a slash (or is empty) and is appended to the back end's URL. It can't lead out of that URL:
 *   `..`, `//`, `?` and the like are refused. Insert values with the tag `urlPath`, and pass queries in
 *   `options.query`.
 * - `body` is sent as JSON, with its keys unchanged.
 * - The promise resolves with the response's JSON, its keys in snake_case unless the definition says `keys: 'KEEP'`;
 *   with null if the response is empty. `T` is the expected type of the JSON; the gateway does not check it.
 * - Every failure rejects with a BackendError, whose `code` names the failure.
 */
export interface Backend {
  get<T = JsonValue>(path: string, options?: RequestOptions): Promise<T>;
  delete<T = JsonValue>(path: string, options?: RequestOptions): Promise<T>;
  post<T = JsonValue>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  put<T = JsonValue>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  patch<T = JsonValue>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
}
