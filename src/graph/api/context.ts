import type { IncomingHttpHeaders } from 'node:http';
import type { Backend } from './backend.ts';

/** What `authenticate` gets to see of the request that opened the connection. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders;
  /** Path and query, as sent. */
  readonly url: string;
  /** The peer's address; a proxy's, if there is one. */
  readonly remoteAddress: string | undefined;
}

/** What of a `DataLoader` the gateway itself uses. */
export interface Loader<Key = never, Value = unknown> {
  load(key: Key): Promise<Value>;
  prime(key: Key, value: Value): unknown;
}

/** Loaders by name. A graph names their types where it uses them. */
export type Loaders = Readonly<Record<string, unknown>>;

/** Seeds a loader from what an event already carries. */
export type Primer = (event: unknown) => void;

/** What all executions of one event have in common: what its loaders and primers are made from. */
export interface SharedContext {
  readonly backends: Readonly<Record<string, Backend>>;
  readonly loaders: Loaders;
  /** When the event was taken up, ms. The same for all its executions. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** `ctx` of resolvers: one for each execution. Nothing on it exists until it is read. */
export interface GraphContext extends SharedContext {
  /** Who asks. What is read of it decides who may share the result. */
  readonly viewer: Readonly<Record<string, unknown>>;
  readonly viewerLoaders: Loaders;
  readonly primers: Readonly<Record<string, Primer>>;
  /** Aborted when the execution has taken too long. */
  readonly signal: AbortSignal;
}
