import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import type { GraphContext } from './context.ts';

/**
 * Resolves one field. `source` is the event, or the part of it that the parent field resolved to; it is deep-frozen.
 * The type is declared as a method, whose parameters TypeScript compares bivariantly, so that a resolver may declare
 * its own context.
 */
export type FieldResolver<Context = GraphContext> = {
  // oxlint-disable-next-line typescript/no-explicit-any -- TypeScript knows only the types that `sluice types` writes
  resolve(source: any, args: any, context: Context, info: GraphQLResolveInfo): unknown;
}['resolve'];

/**
 * Resolvers of one type by field name; also `__resolveType` of an interface or union, `__isTypeOf` of an object type.
 */
export type FieldResolvers<Context = GraphContext> = Readonly<Record<string, FieldResolver<Context>>>;

/** The values that events contain, by name of the enum value. */
export type EnumValues = Readonly<Record<string, string | number | boolean>>;

/**
 * Functions of a custom scalar; one that is left out passes values unchanged. A `GraphQLScalarType` is accepted, too.
 */
export interface ScalarCode {
  serialize?(value: unknown): unknown;
  parseValue?(value: unknown): unknown;
  parseLiteral?: GraphQLScalarType['parseLiteral'];
}

/** Code for one type: by field of an object type, by value of an enum, or a scalar's functions. */
export type TypeCode<Context = GraphContext> = Readonly<
  ScalarCode & Record<string, FieldResolver<Context> | EnumValues[string] | undefined>
>;

/** Code for the schema's types, by type name. */
export type Resolvers<Context = GraphContext> = Readonly<
  Record<string, TypeCode<Context> | GraphQLScalarType>
>;
