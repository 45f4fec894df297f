import type { IncomingHttpHeaders } from 'node:http';
import type { Backend } from './backend.ts';
import type { AnyByName, GraphTypes, TypeOf, Untyped } from './graph-types.ts';

/** The part of a connection's HTTP request that `authenticate` gets. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders;
  /** Path and query, as the client sent them. */
  readonly url: string;
  /** Address of the peer, which is the proxy if there is one; undefined if the peer has disconnected. */
  readonly remoteAddress: string | undefined;
}

/** The part of a `DataLoader` that the gateway itself uses. */
export interface Loader<Key = never, Value = unknown> {
  load(key: Key): Promise<Value>;
  prime(key: Key, value: Value): unknown;
}

/** Puts objects that an event contains into a loader's cache. */
export type Primer = (event: unknown) => void;

/** Primers by name of the loader that they fill. */
export type Primers<Types extends GraphTypes = Untyped> =
  Types extends Readonly<Record<'Loaders', infer Named>>
    ? { readonly [Name in keyof Named]?: Primer }
    : Readonly<Record<string, Primer>>;

/** Loaders by name, as the gateway itself handles them. */
export type Loaders = Readonly<Record<string, unknown>>;

/** The context that all executions of one event share; `loaders` and `primers` of the definition get it. */
export interface SharedContext<Types extends GraphTypes = Untyped> {
  /** The back ends of the definition, by name. */
  readonly backends: Readonly<Record<TypeOf<Types, 'Backends', string>, Backend>>;
  /** The loaders that `loaders` of the definition returned. */
  readonly loaders: TypeOf<Types, 'Loaders', AnyByName>;
  /** Time at which this pod began to execute the event, ms since 1970. The same for all executions of the event. */
  readonly now: number;
  /** Never aborts, since an execution that times out must not end calls that other executions share. */
  readonly signal: AbortSignal;
}

/** `ctx` of resolvers: one for each execution. Each property is built when a resolver first reads it. */
export interface GraphContext<Types extends GraphTypes = Untyped> extends SharedContext<Types> {
  /**
   * The viewer that `authenticate` returned; in a graph without it the claims of the client's token, or `{}`. Viewers
   * share a result if they agree on all values that its execution has read here.
   */
  readonly viewer: Readonly<TypeOf<Types, 'Viewer', Record<string, unknown>>>;
  /** The loaders that `viewerLoaders` of the definition returned. */
  readonly viewerLoaders: TypeOf<Types, 'ViewerLoaders', AnyByName>;
  readonly primers: Primers<Types>;
  /** Aborts when the execution times out, or when all its clients have left. */
  readonly signal: AbortSignal;
}

/** `ctx` of resolvers, with what `context` of the definition adds to it. */
export type ResolverContext<Types extends GraphTypes = Untyped> = GraphContext<Types> &
  TypeOf<Types, 'Context', unknown>;
