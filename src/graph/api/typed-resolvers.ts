import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import type { ResolverContext } from './context.ts';
import type { EnumValues, Resolvers, ScalarCode } from './resolvers.ts';
import type { GraphTypes, TypeOf } from './graph-types.ts';

/**
 * The resolvers that a graph may have. If the graph's types have `Resolvers`, they are compared with the schema:
 * GraphQL Code Generator has written the types of parents, arguments and results, and the context is the gateway's.
 */
export type ResolversOf<Types extends GraphTypes> =
  Types extends Readonly<Record<'Resolvers', infer Generated extends object>>
    ? { readonly [Name in keyof Generated]?: CodeOf<Name, NonNullable<Generated[Name]>, Types> }
    : Resolvers<ResolverContext<Types>>;

type CodeOf<Name, Generated, Types extends GraphTypes> = Name extends 'Subscription'
  ? { readonly [Field in keyof Generated]?: EventResolver<NonNullable<Generated[Field]>, Types> }
  : [Generated] extends [GraphQLScalarType]
    ? ScalarCode
    : Generated extends EnumValues
      ? Generated
      : { readonly [Field in keyof Generated]?: MemberOf<Name, Field, NonNullable<Generated[Field]>, Types> };

type MemberOf<Name, Field, Generated, Types extends GraphTypes> = Field extends '__resolveType' | '__isTypeOf'
  ? AbstractMember<Generated, Types>
  : FieldMember<Name, Generated, Types>;

type FieldMember<Name, Generated, Types extends GraphTypes> = Generated extends (
  parent: infer Parent,
  args: infer Args,
  ...rest: never
) => infer Result
  ? (
      parent: SourceOf<Name, Parent, Types>,
      args: Args,
      context: ResolverContext<Types>,
      info: GraphQLResolveInfo,
    ) => Result
  : never;

/** The type of a resolver's source: as in the schema, except for fields that the graph's author gives in `Events`. */
type SourceOf<Name, Parent, Types extends GraphTypes> =
  TypeOf<Types, 'Events', unknown> extends Readonly<Record<Name & string, infer Fields>>
    ? Omit<Parent, keyof Fields> & Fields
    : Parent;

type AbstractMember<Generated, Types extends GraphTypes> = Generated extends (
  value: infer Value,
  ...rest: never
) => infer Result
  ? (value: Value, context: ResolverContext<Types>, info: GraphQLResolveInfo) => Result
  : never;

/**
 * GraphQL Code Generator writes an object with `subscribe` for a field of `Subscription`. Here, the gateway subscribes,
 * and a resolver may make the result from the event. The event has any type, since the schema does not give it.
 */
type EventResolver<Generated, Types extends GraphTypes> =
  Extract<Generated, { resolve: unknown }> extends {
    resolve: (event: never, args: infer Args, ...rest: never) => infer Result;
  }
    ? (
        // oxlint-disable-next-line typescript/no-explicit-any -- as said
        event: any,
        args: Args,
        context: ResolverContext<Types>,
        info: GraphQLResolveInfo,
      ) => Result
    : never;
