import {
  isInterfaceType,
  isObjectType,
  Kind,
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLNamedOutputType,
  type GraphQLSchema,
} from 'graphql';
import { placeOf, type Findings } from '../diagnostic.ts';
import { directivesOf } from '../entities/entities.ts';
import { fieldsOf } from '../event-type.ts';
import type { FieldSource, MetadataName } from '../graph.ts';

const ARGUMENTS = ['header', 'key', 'path', 'metadata'] as const;
const PATH = /^\w+(?:\.\w+)*$/;
const EXAMPLES = 'header: "tenant", key: true, path: "after.address.city" or metadata: OFFSET';

/**
 * The fields of events that come from elsewhere in the message, by name.
 *
 * @param types of the events
 */
export function fromFields(
  schema: GraphQLSchema,
  types: readonly (GraphQLNamedOutputType | undefined)[],
): ReadonlyMap<string, FieldSource> {
  const sources = new Map<string, FieldSource>();
  for (const field of types.flatMap((type) => (type === undefined ? [] : fieldsOf(schema, type)))) {
    const source = sourceOf(field);
    if (source !== undefined) sources.set(field.name, source);
  }
  return sources;
}

/** Reports uses of `@from` that name no source, or that have no effect. @param types of all events */
export function checkFrom(
  schema: GraphQLSchema,
  types: ReadonlySet<GraphQLNamedOutputType>,
  file: string,
  findings: Findings,
): void {
  const ofEvents = new Set([...types].flatMap((type) => fieldsOf(schema, type)));
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const [node] = directivesOf(field, 'from');
      if (node === undefined) continue;
      const place = placeOf(node, file);
      const given = givenIn(node);
      if (!ofEvents.has(field)) {
        const message = `@from has no effect on ${type.name}.${field.name}, which is no field of an event`;
        findings.error(place, message, 'It belongs on fields of the type of a field with @event.');
      } else if (given.length !== 1) {
        const message = `@from: expected one source, got ${given.length === 0 ? 'none' : given.join(' and ')}`;
        findings.error(place, message, `Write ${EXAMPLES}.`);
      } else if (sourceOf(field) === undefined) {
        findings.error(
          place,
          `@from(${given[0]}:): expected a source, got another value`,
          `Write ${EXAMPLES}.`,
        );
      }
    }
  }
}

function givenIn(node: ConstDirectiveNode): string[] {
  return (node.arguments ?? [])
    .filter(({ value }) => value.kind !== Kind.NULL)
    .map(({ name }) => name.value)
    .filter((name) => (ARGUMENTS as readonly string[]).includes(name));
}

/** Whether the field's value comes from elsewhere in the message. */
export function hasSource(field: GraphQLField<unknown, unknown>): boolean {
  return sourceOf(field) !== undefined;
}

/** @returns undefined without a source that can be used */
function sourceOf(field: GraphQLField<unknown, unknown>): FieldSource | undefined {
  const [node] = directivesOf(field, 'from');
  const [argument] = node?.arguments ?? [];
  if (argument === undefined) return undefined;
  const { name, value } = argument;
  switch (name.value) {
    case 'header':
      return value.kind === Kind.STRING && value.value !== ''
        ? { kind: 'header', name: value.value }
        : undefined;
    case 'path':
      return value.kind === Kind.STRING && PATH.test(value.value)
        ? { kind: 'path', path: value.value }
        : undefined;
    case 'key':
      return value.kind === Kind.BOOLEAN && value.value ? { kind: 'key' } : undefined;
    default:
      return value.kind === Kind.ENUM ? { kind: 'metadata', name: value.value as MetadataName } : undefined;
  }
}
