import {
  getNamedType,
  GraphQLError,
  GraphQLScalarType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  valueFromAST,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLFieldResolver,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLIsTypeOfFn,
  type GraphQLSchema,
  type GraphQLTypeResolver,
} from 'graphql';
import { Resumed, Resumption } from '../../support/resumption.ts';
import { DIGITS_CODE, holdsDigits } from '../encoding/digits.ts';
import { bounded } from '../error-budget.ts';
import type { EnumValues, FieldResolvers, Resolvers, ScalarCode } from '../api/resolvers.ts';

/**
 * Attaches a graph's code, which has been compared with the schema, to the schema in place. Own code instead of
 * `@graphql-tools/schema`, which would bring six packages to production and reports faults without file and line.
 */
export function attachResolvers(schema: GraphQLSchema, resolvers: Resolvers): void {
  for (const [name, code] of Object.entries(resolvers)) {
    const type = schema.getType(name);
    if (isScalarType(type)) attachScalar(type, code as ScalarCode);
    else if (isEnumType(type)) attachEnum(type, code as EnumValues);
    else if (isObjectType(type)) {
      for (const [field, resolver] of Object.entries(code as FieldResolvers)) {
        const target = type.getFields()[field];
        if (field === '__isTypeOf')
          type.isTypeOf = resolver as unknown as GraphQLIsTypeOfFn<unknown, unknown>;
        else if (target) target.resolve = resumed(resolver as GraphQLFieldResolver<unknown, unknown>);
      }
    } else if (isAbstractType(type)) {
      const { __resolveType: resolveType } = code as FieldResolvers;
      type.resolveType = resolveType as unknown as GraphQLTypeResolver<unknown, unknown>;
    }
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (holdsDigits(type) && resolvers[type.name] === undefined) attachScalar(type, DIGITS_CODE);
  }
  renewDefaults(schema);
}

/** Counts a resolver's errors, and makes executions of queries and mutations go on in turns once its promise has settled. */
export function resumed(
  resolve: GraphQLFieldResolver<unknown, unknown>,
): GraphQLFieldResolver<unknown, unknown> {
  const counted = bounded(resolve);
  return (source, args, context, info) => {
    const value = counted(source, args, context, info);
    if (!(value instanceof Promise)) return value;
    const resumption = Resumption.of(context);
    return resumption === undefined ? value : new Resumed(value, resumption);
  };
}

function attachScalar(type: GraphQLScalarType, code: ScalarCode): void {
  const { serialize, parseValue, parseLiteral } = code;
  // graphql-js derives the functions that are left out from the others.
  const complete = new GraphQLScalarType({
    name: type.name,
    ...(serialize && { serialize: (value: unknown) => serialized(code, serialize, value) }),
    ...(parseValue && { parseValue: (value: unknown) => parseValue.call(code, value) }),
    ...(parseLiteral && { parseLiteral: parseLiteral.bind(code) }),
  });
  type.serialize = complete.serialize;
  type.parseValue = complete.parseValue;
  type.parseLiteral = complete.parseLiteral;
}

/**
 * Hides GraphQLErrors, which clients would get: by custom, scalars of graphql-js and of libraries throw them with the
 * value, content of an event, in the message.
 */
function serialized(
  code: ScalarCode,
  serialize: NonNullable<ScalarCode['serialize']>,
  value: unknown,
): unknown {
  try {
    return serialize.call(code, value);
  } catch (error) {
    throw error instanceof GraphQLError ? new TypeError(error.message, { cause: error }) : error;
  }
}

/** Must run before the first serialization, at which graphql-js builds its table from values to names. */
function attachEnum(type: GraphQLEnumType, values: EnumValues): void {
  for (const value of type.getValues()) {
    if (Object.hasOwn(values, value.name)) value.value = values[value.name];
  }
}

/** Coerces default values again: graphql-js coerced them when scalars and enums had no code yet. */
function renewDefaults(schema: GraphQLSchema): void {
  const done = new Set<GraphQLInputObjectType>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isInputObjectType(type)) renewFields(type, done);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const argument of Object.values(type.getFields()).flatMap(({ args }) => args)) {
      renewDefault(argument, done);
    }
  }
}

/** The default of an input object includes the defaults of its fields, so those are coerced first. */
function renewDefault(input: GraphQLArgument | GraphQLInputField, done: Set<GraphQLInputObjectType>): void {
  const node = input.astNode?.defaultValue;
  if (!node) return;
  const type = getNamedType(input.type);
  if (isInputObjectType(type)) renewFields(type, done);
  input.defaultValue = valueFromAST(node, input.type);
}

function renewFields(type: GraphQLInputObjectType, done: Set<GraphQLInputObjectType>): void {
  if (done.has(type)) return;
  done.add(type);
  for (const field of Object.values(type.getFields())) renewDefault(field, done);
}
