import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import type { BackendDefinition } from './backend-definition.ts';
import type { GraphContext, Primer, RequestHead, SharedContext } from './context.ts';
import type { Decode } from '../../events/event.ts';

/**
 * Resolves one field. The source is the event (or the part of it that the parent field resolved to) and is deep-frozen.
 * Declared as a method, whose parameters TypeScript compares both ways, so that a resolver may name the type that it
 * expects: `(bid: Bid) => …`, with `type Bid = {…}` rather than an interface.
 */
export type FieldResolver = {
  resolve(
    source: Record<string, unknown>,
    args: Record<string, unknown>,
    context: GraphContext,
    info: GraphQLResolveInfo,
  ): unknown;
}['resolve'];

/** By field name; `__resolveType` for an interface or union, `__isTypeOf` for an object type. */
export type FieldResolvers = Readonly<Record<string, FieldResolver>>;

/** By name of the enum value: what events hold in its stead. */
export type EnumValues = Readonly<Record<string, string | number | boolean>>;

/** Code of a custom scalar; what is left out leaves values as they are. A `GraphQLScalarType` does as well. */
export interface ScalarCode {
  serialize?(value: unknown): unknown;
  parseValue?(value: unknown): unknown;
  parseLiteral?: GraphQLScalarType['parseLiteral'];
}

/** By type name. */
export type Resolvers = Readonly<Record<string, FieldResolvers | EnumValues | ScalarCode>>;

export interface GraphDefinition {
  readonly resolvers?: Resolvers;
  /**
   * Who connects. Called at `connection_init` with its payload, for queries by POST with none.
   *
   * @returns the viewer: an object of plain JSON, which is copied and frozen; null refuses the connection (4403)
   */
  authenticate?(
    connectionParams: Readonly<Record<string, unknown>>,
    request: RequestHead,
  ): object | null | Promise<object | null>;
  /** By name: `ctx.backends.<name>`. */
  readonly backends?: Readonly<Record<string, BackendDefinition>>;
  /** One set for each event, shared by all its executions; there is no viewer here. */
  loaders?(ctx: SharedContext): object;
  /** One set for each execution. */
  viewerLoaders?(ctx: GraphContext): object;
  /** By name of the loader in `loaders` that they seed, before it is first used. */
  primers?(ctx: SharedContext): Readonly<Record<string, Primer>>;
  /** What the graph adds to the context. */
  context?(base: GraphContext): object;
  /** By topic: how the value of a message becomes an event, where it is not JSON. */
  readonly decode?: Readonly<Record<string, Decode>>;
}

/** The properties of a definition; whatever else is there is refused, so that nothing is taken for granted. */
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

/** The default export of `graph.ts` or `graph.js`. Returns what it is given; it is checked when the graph is loaded. */
export function defineGraph(definition: GraphDefinition): GraphDefinition {
  if (typeof definition !== 'object' || definition === null) {
    throw new TypeError(`defineGraph: expected an object, got ${String(definition)}`);
  }
  definitions.add(definition);
  return definition;
}

/** Did this come out of `defineGraph`? */
export function isDefinition(value: unknown): value is GraphDefinition {
  return typeof value === 'object' && value !== null && definitions.has(value);
}

/** Has the graph code for this field? */
export function hasResolver(definition: GraphDefinition, type: string, field: string): boolean {
  return Object.hasOwn(definition.resolvers?.[type] ?? {}, field);
}
