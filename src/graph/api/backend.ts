import type { JsonValue } from '../../events/event.ts';

/** What a query string can hold; null and undefined are left out, a list repeats its name. */
export type Query = Readonly<
  Record<string, QueryValue | readonly (string | number | boolean)[] | null | undefined>
>;

type QueryValue = string | number | boolean;

export interface RequestOptions {
  readonly query?: Query;
  /** Win over those of the back end's definition. */
  readonly headers?: Readonly<Record<string, string>>;
  /** ms for the whole call, waiting and retries included; instead of the definition's. */
  readonly timeoutMs?: number;
  /** Sending it twice does no more than sending it once, so that POST and PATCH may be retried too. */
  readonly idempotent?: boolean;
  /** 404 gives null instead of an error: for reading one thing that may not be there. */
  readonly nullIfNotFound?: boolean;
}

/**
 * One HTTP back end, as resolvers and loaders see it: `ctx.backends.<name>`.
 *
 * - `path` begins with a slash (or is empty) and is joined to the back end's URL. It never leaves it: `..`, `//`, `?`
 *   and the like are refused. Values go in by the tag `urlPath`, queries by `options.query`.
 * - `body` is sent as JSON, keys as they are.
 * - The answer is its JSON, keys in snake_case unless the definition says `keys: 'KEEP'`; null if it is empty. `T` is what
 *   the back end is believed to answer; nobody checks it.
 * - Everything that goes wrong rejects with a BackendError.
 */
export interface Backend {
  get<T = JsonValue>(path: string, options?: RequestOptions): Promise<T>;
  delete<T = JsonValue>(path: string, options?: RequestOptions): Promise<T>;
  post<T = JsonValue>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  put<T = JsonValue>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  patch<T = JsonValue>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
}
