import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import type { Decode } from './graph.ts';

/**
 * Resolves one field. The source is the event (or the part of it that the parent field resolved to) and is deep-frozen.
 * Declared as a method, whose parameters TypeScript compares both ways, so that a resolver may name the type that it
 * expects: `(bid: Bid) => …`, with `type Bid = {…}` rather than an interface.
 */
export type FieldResolver = {
  resolve(
    source: Record<string, unknown>,
    args: Record<string, unknown>,
    context: unknown,
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
  /** By topic: how the value of a message becomes an event, where it is not JSON. */
  readonly decode?: Readonly<Record<string, Decode>>;
}

/** The properties of a definition; whatever else is there is refused, so that nothing is taken for granted. */
export const DEFINITION_PROPERTIES = [
  'resolvers',
  'decode',
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
