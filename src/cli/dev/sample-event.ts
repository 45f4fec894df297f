import {
  getNamedType,
  isEnumType,
  isNonNullType,
  isObjectType,
  Kind,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { hasResolver, type GraphDefinition } from '../../graph/api/define-graph.ts';
import { directivesOf } from '../../graph/entities/entities.ts';
import { leavesOf, putAt, readFieldSet } from '../../graph/entities/field-set.ts';
import { eventTypeOf, fieldsOf, isList } from '../../graph/event-type.ts';
import { bindingsOf } from '../../graph/topics.ts';
import type { Binding, Graph, Topic } from '../../graph/graph.ts';

type SampledGraph = Pick<Graph, 'schema' | 'bindings' | 'topics'> & { readonly definition: GraphDefinition };

export interface SampleEvent {
  readonly topic: string;
  /** Undefined: the graph decodes the topic itself, so it need not be JSON. */
  readonly event: Readonly<Record<string, unknown>> | undefined;
}

const SCALARS: Readonly<Record<string, unknown>> = {
  ID: '7',
  String: 'text',
  Int: 1,
  Float: 1.5,
  Boolean: true,
};

/** An optional field is left out once the object has this many fields. */
const MAX_FIELDS = 4;

/**
 * Makes up an event for each topic, as a subscription of the graph would show it. The event is for the topic's first
 * subscription field that has a key, or else for its first field. Patterns have a topic each, if one is easily made up.
 */
export function sampleEvents({ schema, bindings, topics, definition }: SampledGraph): SampleEvent[] {
  return [...topics.values()].flatMap((sampled): SampleEvent[] => {
    const topic = sampled.pattern === undefined ? sampled.name : matching(sampled.pattern);
    if (topic === undefined) return [];
    const fields = bindingsOf({ topics, bindings }, topic);
    const binding = fields.find(({ key }) => key !== undefined) ?? fields[0];
    if (binding === undefined) return [];
    if (sampled.decode !== undefined) return [{ topic, event: undefined }];
    const event = eventOf(binding, schema, definition);
    for (const name of sampled.from?.keys() ?? []) delete event[name];
    return [{ topic, event: enveloped(event, sampled.envelope) }];
  });
}

/** Begins as the pattern does. @returns undefined if that does not match it */
function matching(pattern: RegExp): string | undefined {
  const [beginning = ''] = /^\^?(?:[\w-]|\\\.|\[\.\])*/.exec(pattern.source) ?? [];
  const name = `${beginning.replace('^', '').replaceAll(/[\\[\]]/g, '')}1`;
  return pattern.test(name) ? name : undefined;
}

/** The event as messages of the topic hold it. */
function enveloped(
  event: Readonly<Record<string, unknown>>,
  envelope: Topic['envelope'],
): Readonly<Record<string, unknown>> {
  switch (envelope) {
    case 'DEBEZIUM':
      return { op: 'u', before: null, after: event, ts_ms: 0 };
    case 'CLOUDEVENTS':
      return { specversion: '1.0', id: '1', source: '/by-hand', type: 'sample', data: event };
    default:
      return event;
  }
}

function eventOf(
  { field: name, key }: Binding,
  schema: GraphQLSchema,
  definition: GraphDefinition,
): Record<string, unknown> {
  const field = schema.getSubscriptionType()?.getFields()[name];
  const type = field && eventTypeOf(schema, field, definition);
  const path = key?.split('.') ?? [];
  const keyed = path.reduceRight<unknown>((below, part) => ({ [part]: below }), '7');
  const event = key === undefined ? {} : (keyed as Record<string, unknown>);
  return type === undefined ? event : { ...event, ...objectOf(type, schema, definition, [type], path) };
}

/**
 * Leaves out fields that have a resolver, since an event may lack them. Nested objects are included only if the schema
 * demands them, or the key leads through them.
 *
 * @param path the part of the key's path that begins at this object
 */
function objectOf(
  type: GraphQLNamedOutputType,
  schema: GraphQLSchema,
  definition: GraphDefinition,
  above: readonly GraphQLNamedOutputType[],
  path: readonly string[] = [],
): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const field of fieldsOf(schema, type)) {
    if (hasResolver(definition, type.name, field.name)) continue;
    const [head, ...below] = path;
    const isOnPath = field.name === head;
    const isDemanded = isNonNullType(field.type) || isOnPath;
    const named = getNamedType(field.type);
    if (!isDemanded && (Object.keys(object).length >= MAX_FIELDS || isObjectType(named))) continue;
    const value = valueOf(named, schema, definition, above, isOnPath ? below : []);
    if (value !== undefined) object[field.name] = isList(field.type) ? [value] : value;
  }
  if (isObjectType(type)) addReferences(object, type);
  return object;
}

/** Adds the keys by which an event names entities, without which these would be null. */
function addReferences(object: Record<string, unknown>, type: GraphQLObjectType): void {
  for (const field of Object.values(type.getFields())) {
    const [node] = directivesOf(field, 'reference');
    const fields = node?.arguments?.[0]?.value;
    if (fields?.kind !== Kind.STRING) continue;
    for (const path of leavesOf(readFieldSet(fields.value)))
      putAt(object, path, isList(field.type) ? ['7'] : '7');
  }
}

function valueOf(
  type: GraphQLNamedOutputType,
  schema: GraphQLSchema,
  definition: GraphDefinition,
  above: readonly GraphQLNamedOutputType[],
  path: readonly string[],
): unknown {
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isObjectType(type)) return SCALARS[type.name];
  return above.includes(type) ? undefined : objectOf(type, schema, definition, [...above, type], path);
}
