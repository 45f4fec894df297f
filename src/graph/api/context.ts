import type { IncomingHttpHeaders } from 'node:http';
import type { Backend } from './backend.ts';

/** The part of the HTTP request that opened the connection which `authenticate` gets. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders;
  /** Path and query, as the client sent them. */
  readonly url: string;
  /** Address of the peer: of the proxy, if there is one; undefined if the peer has disconnected. */
  readonly remoteAddress: string | undefined;
}

/** The part of a `DataLoader` that the gateway itself uses. */
export interface Loader<Key = never, Value = unknown> {
  load(key: Key): Promise<Value>;
  prime(key: Key, value: Value): unknown;
}

/** Loaders by name. A graph casts each to its type where it uses it. */
export type Loaders = Readonly<Record<string, unknown>>;

/** Puts objects that an event contains into a loader's cache. */
export type Primer = (event: unknown) => void;

/** The context that all executions of one event share; `loaders` and `primers` of the definition get it. */
export interface SharedContext {
  /** The back ends of the definition, by name. */
  readonly backends: Readonly<Record<string, Backend>>;
  readonly loaders: Loaders;
  /** Time at which this pod began to execute the event, ms since 1970. The same for all executions of the event. */
  readonly now: number;
  /** Never aborted, since one execution that times out must not end calls that another one shares. */
  readonly signal: AbortSignal;
}

/** `ctx` of resolvers: one for each execution. Each property is built when a resolver first reads it. */
export interface GraphContext extends SharedContext {
  /**
   * What `authenticate` returned for the connection; `{}` in a graph without it. Viewers share a result if they agree
   * on all values that its execution has read here.
   */
  readonly viewer: Readonly<Record<string, unknown>>;
  readonly viewerLoaders: Loaders;
  readonly primers: Readonly<Record<string, Primer>>;
  /** Aborted when the execution times out, or all clients that it is for have left. */
  readonly signal: AbortSignal;
}
