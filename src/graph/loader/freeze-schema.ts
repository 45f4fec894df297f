import { GraphQLObjectType, isAbstractType, isEnumType, validateSchema, type GraphQLSchema } from 'graphql';

/** A type of no schema, to ask for what graphql-js keeps of an abstract type. */
const NONE = new GraphQLObjectType({ name: 'None', fields: {} });

/**
 * Freezes what resolvers can reach of a schema, which all executions share: by `info`, and by default values, which
 * graphql-js hands to resolvers as they are. Functions are not frozen.
 */
export function freezeSchema(schema: GraphQLSchema): void {
  // graphql-js keeps in the schema what it has found out: it has to do so now.
  validateSchema(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    // graphql-js is asked of each, though no type implements it.
    if (isAbstractType(type)) schema.isSubType(type, NONE);
    if (!isEnumType(type)) continue;
    type.getValue('');
    for (const { value } of type.getValues()) type.serialize(value);
  }
  freezeReachable(schema);
}

function freezeReachable(root: object): void {
  const visited = new Set<object>();
  const pending = [root];
  for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
    if (visited.has(object)) continue;
    visited.add(object);
    Object.freeze(object);
    const items = object instanceof Map ? [...(object as Map<unknown, unknown>).values()] : [];
    for (const item of [...items, ...Object.values(object)]) {
      if (typeof item === 'object' && item !== null) pending.push(item as object);
    }
  }
}
