import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isInterfaceType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLNamedOutputType,
} from 'graphql';
import { hasResolver, type GraphDefinition } from './api/define-graph.ts';

type Field = GraphQLField<unknown, unknown>;

/** The field of an object or interface type; for a union or interface also one that only some of its types have. */
export function fieldOf(
  schema: GraphQLSchema,
  type: GraphQLNamedOutputType,
  name: string,
): Field | undefined {
  return fieldsOf(schema, type).find((field) => field.name === name);
}

/** The fields that an event of this type may have. */
export function fieldsOf(schema: GraphQLSchema, type: GraphQLNamedOutputType): Field[] {
  if (isObjectType(type)) return Object.values(type.getFields());
  if (!isAbstractType(type)) return [];
  const own = isInterfaceType(type) ? Object.values(type.getFields()) : [];
  return [...own, ...schema.getPossibleTypes(type).flatMap((member) => Object.values(member.getFields()))];
}

export function isList(type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type));
}

/** What events of a subscription field are, as far as the schema knows: with a resolver it only knows the result. */
export function eventTypeOf(
  schema: GraphQLSchema,
  field: Field,
  definition: GraphDefinition,
): GraphQLNamedOutputType | undefined {
  const root = schema.getSubscriptionType()?.name ?? '';
  return hasResolver(definition, root, field.name) ? undefined : getNamedType(field.type);
}

/** One field that the gateway fills from an event, without code. */
export interface PlainField {
  readonly type: string;
  readonly field: Field;
}

/** Every field below a type that is filled from the event itself: reached through fields without resolvers. */
export function plainFields(
  schema: GraphQLSchema,
  type: GraphQLNamedOutputType,
  definition: GraphDefinition,
): PlainField[] {
  const seen = new Set<GraphQLNamedOutputType>();
  const found: PlainField[] = [];
  const waiting = [type];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (isAbstractType(next)) waiting.push(...schema.getPossibleTypes(next));
    if (!isObjectType(next)) continue;
    for (const field of Object.values(next.getFields())) {
      if (hasResolver(definition, next.name, field.name)) continue;
      found.push({ type: next.name, field });
      waiting.push(getNamedType(field.type));
    }
  }
  return found;
}

/**
 * Can a key that was made snake_case have this name? Snake-casing splits at capitals, puts `_` for `-`, space and `.`,
 * and leaves the rest alone, so every name without capitals can be reached and no other.
 */
export function isSnakeCase(name: string): boolean {
  return name === name.toLowerCase();
}
