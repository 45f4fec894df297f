import type { BackendDefinition } from './backend-definition.ts';
import type { GraphContext, Primers, RequestHead, SharedContext } from './context.ts';
import type { GraphTypes, TypeOf, Untyped } from './graph-types.ts';
import type { ResolversOf } from './typed-resolvers.ts';
import type { Decode } from '../../events/event.ts';

/** The definition that a graph author passes to `defineGraph`. All properties are optional. */
export interface GraphDefinition<Types extends GraphTypes = Untyped> {
  readonly resolvers?: ResolversOf<Types>;
  /**
   * Identifies the client of a connection. Called for each `connection_init`, each fresh token and each GraphQL request
   * by HTTP. The connection is refused (close code 4403, HTTP status 403) if this returns null, throws, rejects or
   * takes longer than EXECUTE_TIMEOUT_MS.
   *
   * @param connectionParams payload of `connection_init`; the object with the fresh token; empty for a request by HTTP
   * @param request head of the HTTP request
   * @param claims claims of the client's token; null if the client has sent none, or the gateway verifies no tokens
   *   (`AUTH_SECRET`, …)
   * @returns the viewer: an object of plain JSON, which is copied and frozen; or null
   */
  authenticate?(
    connectionParams: Readonly<Record<string, unknown>>,
    request: RequestHead,
    claims?: Readonly<Record<string, unknown>> | null,
  ): TypeOf<Types, 'Viewer', object> | null | Promise<TypeOf<Types, 'Viewer', object> | null>;
  /** Back ends by name, which resolvers use as `ctx.backends.<name>`. */
  readonly backends?: Readonly<Record<TypeOf<Types, 'Backends', string>, BackendDefinition>>;
  /**
   * Makes the loaders of one event, which all its executions share; reading `ctx.viewer` here throws.
   *
   * @returns loaders by name
   */
  loaders?(ctx: SharedContext<Types>): TypeOf<Types, 'Loaders', object>;
  /**
   * Makes the loaders of one execution, which may depend on `ctx.viewer`.
   *
   * @returns loaders by name
   */
  viewerLoaders?(ctx: GraphContext<Types>): TypeOf<Types, 'ViewerLoaders', object>;
  /**
   * Makes functions that put objects of the event into a loader's cache, before a resolver first reads that loader.
   *
   * @returns primers by name of the loader in `loaders`
   */
  primers?(ctx: SharedContext<Types>): Primers<Types>;
  /**
   * Adds properties to `ctx` of resolvers.
   *
   * @param base the context without the added properties
   * @returns the added properties; one of the same name as a property of `base` replaces it
   */
  context?(base: GraphContext<Types>): TypeOf<Types, 'Context', object>;
  /** Functions by topic, for topics whose messages are not JSON: each decodes a message into an event. */
  readonly decode?: Readonly<Record<string, Decode>>;
}

/** The properties of a definition. Any other property is an error, so that a misspelt one is not ignored silently. */
export const DEFINITION_PROPERTIES = [
  'resolvers',
  'decode',
  'authenticate',
  'backends',
  'loaders',
  'viewerLoaders',
  'primers',
  'context',
] as const satisfies readonly (keyof GraphDefinition)[];

const definitions = new WeakSet<object>();

/**
 * Makes the default export of `graph.ts` or `graph.js`. The definition is compared with the schema when the gateway, or
 * `sluice check`, loads the graph.
 *
 * @typeParam Types the graph's own types, by which its code is checked: `defineGraph<{ Viewer: …; Resolvers: … }>({ … })`
 * @returns the definition itself
 * @throws TypeError if the definition is no object
 */
export function defineGraph<Types extends GraphTypes = Untyped>(
  definition: GraphDefinition<Types>,
): GraphDefinition<Types> {
  if (typeof definition !== 'object' || definition === null) {
    throw new TypeError(`defineGraph: expected an object, got ${String(definition)}`);
  }
  definitions.add(definition);
  return definition;
}

/** Whether `defineGraph` has returned this value. */
export function isDefinition(value: unknown): value is GraphDefinition {
  return typeof value === 'object' && value !== null && definitions.has(value);
}

/** Whether the graph has a resolver for this field. */
export function hasResolver(definition: GraphDefinition, type: string, field: string): boolean {
  return Object.hasOwn(definition.resolvers?.[type] ?? {}, field);
}
