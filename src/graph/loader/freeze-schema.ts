import { GraphQLObjectType, isAbstractType, isEnumType, validateSchema, type GraphQLSchema } from 'graphql';

/** A type of no schema: asking whether it is a subtype makes graphql-js cache the subtypes of an abstract type. */
const NONE = new GraphQLObjectType({ name: 'None', fields: {} });

/**
 * Freezes the objects of a schema that resolvers can reach, since all executions share them: through `info`, and as
 * default values, which graphql-js does not copy for resolvers. Functions are not frozen.
 */
export function freezeSchema(schema: GraphQLSchema): void {
  // graphql-js caches its findings in the schema, so it must fill these caches before the schema is frozen.
  validateSchema(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    // graphql-js is asked about each abstract type, even one that no type implements.
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
