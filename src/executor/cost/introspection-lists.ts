import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

/** The lengths of introspection's lists in one schema: exact, or averaged over the types that have them. */
export class IntrospectionLists {
  readonly #items: ReadonlyMap<string, number>;

  constructor(schema: GraphQLSchema) {
    const types = Object.values(schema.getTypeMap());
    const withFields = types.filter((type) => isObjectType(type) || isInterfaceType(type));
    const fields = withFields.flatMap((type) => Object.values(type.getFields()));
    const directives = schema.getDirectives();
    this.#items = new Map([
      ['__Schema.types', types.length],
      ['__Schema.directives', directives.length],
      ['__Type.fields', average(withFields.map((type) => Object.keys(type.getFields()).length))],
      ['__Type.interfaces', average(withFields.map((type) => type.getInterfaces().length))],
      ['__Type.possibleTypes', average(types.map((type) => possible(schema, type)))],
      ['__Type.enumValues', average(types.map((type) => (isEnumType(type) ? type.getValues().length : 0)))],
      [
        '__Type.inputFields',
        average(types.map((type) => (isInputObjectType(type) ? Object.keys(type.getFields()).length : 0))),
      ],
      ['__Field.args', average(fields.map(({ args }) => args.length))],
      ['__Directive.args', average(directives.map(({ args }) => args.length))],
    ]);
  }

  /** The number of items; 1 for a field that is not a list. */
  items(type: string, field: string): number {
    return this.#items.get(`${type}.${field}`) ?? 1;
  }
}

function possible(schema: GraphQLSchema, type: GraphQLNamedType): number {
  return isUnionType(type) || isInterfaceType(type) ? schema.getPossibleTypes(type).length : 0;
}

/** The average of the lists that are not empty, at least 1. */
function average(lengths: readonly number[]): number {
  const filled = lengths.filter((length) => length > 0);
  if (filled.length === 0) return 1;
  return filled.reduce((sum, length) => sum + length, 0) / filled.length;
}
