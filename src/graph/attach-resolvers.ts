import {
  getNamedType,
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
import type { EnumValues, FieldResolvers, Resolvers, ScalarCode } from './define-graph.ts';

/**
 * Puts a graph's code onto its schema, in place; it has been checked against the schema. The seventy lines are here
 * rather than `@graphql-tools/schema`, since that brings six packages to production and says of what does not fit
 * neither file nor line.
 */
export function attachResolvers(schema: GraphQLSchema, resolvers: Resolvers): void {
  for (const [name, code] of Object.entries(resolvers)) {
    const type = schema.getType(name);
    if (isScalarType(type)) attachScalar(type, code as ScalarCode);
    else if (isEnumType(type)) attachEnum(type, code as EnumValues);
    else if (isObjectType(type)) {
      for (const [field, resolver] of Object.entries(code as FieldResolvers)) {
        const target = type.getFields()[field];
        if (field === '__isTypeOf') type.isTypeOf = resolver as GraphQLIsTypeOfFn<unknown, unknown>;
        else if (target) target.resolve = resolver as GraphQLFieldResolver<unknown, unknown>;
      }
    } else if (isAbstractType(type)) {
      const { __resolveType: resolveType } = code as FieldResolvers;
      type.resolveType = resolveType as unknown as GraphQLTypeResolver<unknown, unknown>;
    }
  }
  renewDefaults(schema);
}

function attachScalar(type: GraphQLScalarType, code: ScalarCode): void {
  const { serialize, parseValue, parseLiteral } = code;
  // graphql-js knows how the three follow from each other where some are left out.
  const complete = new GraphQLScalarType({
    name: type.name,
    ...(serialize && { serialize: (value: unknown) => serialize.call(code, value) }),
    ...(parseValue && { parseValue: (value: unknown) => parseValue.call(code, value) }),
    ...(parseLiteral && { parseLiteral: parseLiteral.bind(code) }),
  });
  type.serialize = complete.serialize;
  type.parseValue = complete.parseValue;
  type.parseLiteral = complete.parseLiteral;
}

/** Before anything was serialised, so that graphql-js's table from values to names is made of these. */
function attachEnum(type: GraphQLEnumType, values: EnumValues): void {
  for (const value of type.getValues()) {
    if (Object.hasOwn(values, value.name)) value.value = values[value.name];
  }
}

/** Defaults were coerced while scalars and enums had no code yet. Those of input objects first: others hold them. */
function renewDefaults(schema: GraphQLSchema): void {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const renewed = new Set<GraphQLInputObjectType>();
  for (const type of types) if (isInputObjectType(type)) renewFields(type, renewed);
  for (const type of types) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) field.args.forEach(renewDefault);
  }
}

function renewFields(type: GraphQLInputObjectType, renewed: Set<GraphQLInputObjectType>): void {
  if (renewed.has(type)) return;
  renewed.add(type);
  for (const field of Object.values(type.getFields())) {
    const held = getNamedType(field.type);
    if (isInputObjectType(held)) renewFields(held, renewed);
    renewDefault(field);
  }
}

function renewDefault(input: GraphQLArgument | GraphQLInputField): void {
  const node = input.astNode?.defaultValue;
  if (node) input.defaultValue = valueFromAST(node, input.type);
}
