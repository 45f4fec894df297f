import { TypeInfo, visit, visitWithTypeInfo, type GraphQLSchema } from 'graphql';
import type { Operation } from './operation.ts';

/** The types of all fields that a document selects, by type and field: `Bid.amount` → `Int!`. */
export function selectedTypes(schema: GraphQLSchema, { document }: Operation): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  const info = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(info, {
      Field({ name }) {
        types.set(`${info.getParentType()?.name}.${name.value}`, String(info.getType()));
      },
    }),
  );
  return types;
}
