import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLField,
  type GraphQLType,
  type GraphQLSchema,
  type GraphQLNamedOutputType,
} from 'graphql';
import { hasResolver, type GraphDefinition } from './api/define-graph.ts';
import { listed } from './diagnostic.ts';
import { isJoined } from './entities/entities.ts';

type Field = GraphQLField<unknown, unknown>;

/** A field of an object or interface type; for a union or interface also a field that only some of its types have. */
export function fieldOf(
  schema: GraphQLSchema,
  type: GraphQLNamedOutputType,
  name: string,
): Field | undefined {
  return fieldsOf(schema, type).find((field) => field.name === name);
}

/** All fields that an event of this type may have. */
export function fieldsOf(schema: GraphQLSchema, type: GraphQLNamedOutputType): Field[] {
  const members = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  return [type, ...members].flatMap((one) =>
    isObjectType(one) || isInterfaceType(one)
      ? Object.values(one.getFields()).filter((field) => !isJoined(field))
      : [],
  );
}

/** Names of all fields that an object of this type may have, for messages. */
export function fieldNames(schema: GraphQLSchema, type: GraphQLNamedOutputType): string {
  return listed([...new Set(fieldsOf(schema, type).map(({ name }) => name))]);
}

export function isList(type: GraphQLType): boolean {
  return isListType(getNullableType(type));
}

/**
 * The type of the events of a subscription field; undefined if the field has a resolver, since the schema then gives
 * only the type of the result.
 */
export function eventTypeOf(
  schema: GraphQLSchema,
  field: Field,
  definition: GraphDefinition,
): GraphQLNamedOutputType | undefined {
  const root = schema.getSubscriptionType()?.name ?? '';
  return hasResolver(definition, root, field.name) ? undefined : getNamedType(field.type);
}

/** Where a path of names leads, from a type down. */
interface FollowedPath {
  /** The fields that the names lead to, each with the type that has the field. */
  readonly steps: readonly { readonly parent: GraphQLNamedOutputType; readonly field: Field }[];
  /**
   * Why the next name leads to no field; undefined if each name leads to one.
   *
   * - `opaque`: a custom scalar may hold anything
   * - `list`: the last field is a list, and paths do not lead into lists
   * - `missing`: the type has no such field, or no fields at all
   */
  readonly stop?: {
    readonly kind: 'opaque' | 'list' | 'missing';
    /** The type that would need a field of this name. */
    readonly parent: GraphQLNamedOutputType;
    readonly name: string;
  };
}

/** Follows the path of an event's or object's field, as `@event(key:)`, `@filter`, `@delivery` and `@auth` name it. */
export function followPath(
  schema: GraphQLSchema,
  type: GraphQLNamedOutputType,
  path: readonly string[],
): FollowedPath {
  const steps: { parent: GraphQLNamedOutputType; field: Field }[] = [];
  let parent = type;
  for (const name of path) {
    const before = steps.at(-1);
    if (before !== undefined && isList(before.field.type))
      return { steps, stop: { kind: 'list', parent, name } };
    if (isScalarType(parent) && !isSpecifiedScalarType(parent)) {
      return { steps, stop: { kind: 'opaque', parent, name } };
    }
    const field = fieldOf(schema, parent, name);
    if (field === undefined) return { steps, stop: { kind: 'missing', parent, name } };
    steps.push({ parent, field });
    parent = getNamedType(field.type);
  }
  return { steps };
}

/** One field that takes its value from the event, without a resolver. */
export interface PlainField {
  readonly type: string;
  readonly field: Field;
}

/** All fields below a type that take their values from the event: no field on the way to them has a resolver. */
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
      if (isJoined(field) || hasResolver(definition, next.name, field.name)) continue;
      found.push({ type: next.name, field });
      waiting.push(getNamedType(field.type));
    }
  }
  return found;
}

/** Most fields that are searched for paths: the paths are for hints, which need not offer all of a large schema. */
const MOST_FIELDS = 1_000;

/**
 * Paths from a type to scalars, enums and lists of them that events themselves may hold, the shortest first: no field on
 * the way has a resolver, and none is within a list or in an object of the same type.
 */
export function plainPaths(
  schema: GraphQLSchema,
  type: GraphQLNamedOutputType,
  definition: GraphDefinition,
): string[] {
  const found = new Set<string>();
  const waiting = [{ parents: [type], names: [] as string[] }];
  let seen = 0;
  for (const { parents, names } of waiting) {
    const parent = parents.at(-1) ?? type;
    for (const field of fieldsOf(schema, parent)) {
      if (++seen > MOST_FIELDS) return [...found];
      if (hasResolver(definition, parent.name, field.name)) continue;
      const path = [...names, field.name];
      const next = getNamedType(field.type);
      if (isLeafType(next)) found.add(path.join('.'));
      else if (!isList(field.type) && !parents.includes(next)) {
        waiting.push({ parents: [...parents, next], names: path });
      }
    }
  }
  return [...found];
}

/**
 * Whether a key converted to snake_case can have this name. The conversion splits at capitals, replaces `-`, space and
 * `.` by `_`, and leaves all else alone, so it can give every name without capitals, and none with capitals.
 */
export function isSnakeCase(name: string): boolean {
  return name === name.toLowerCase();
}
