import {
  getNamedType,
  isNonNullType,
  type GraphQLNamedOutputType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { namingOf } from '../formats/decoder.ts';
import type { HistorySettings } from '../events/history-settings.ts';
import type { GraphDefinition } from './api/define-graph.ts';
import type { Guards } from './auth/guards.ts';
import type { Rule } from './auth/rule.ts';
import { subscriptionAccess } from './auth/subscription.ts';
import type { EventField } from './directives/event-field.ts';
import { holdsDigits } from './encoding/digits.ts';
import { eventShape, messageShape } from './encoding/event-shape.ts';
import { KEY_SHAPE } from '../formats/shape.ts';
import { needsSchema } from './encoding/encoding.ts';
import { fromFields } from './encoding/from-fields.ts';
import type { LocalSchemas } from './encoding/local-schemas.ts';
import { eventTypeOf, fieldOf, plainFields } from './event-type.ts';
import { compileFilter } from './filter/filter.ts';
import { written, type FilterTypes } from './filter/operands.ts';
import type { Binding, Delivery, Stream, Topic } from './graph.ts';
import { overlap, patternOf } from './topics.ts';
import { termsOf } from './terms.ts';
import type { Event } from '../events/event.ts';
import { jsonAt } from '../lazy/reads.ts';
import type { DeliverySyntax } from './directives/delivery.ts';

/**
 * Binds each subscription field to its topic, key and filter.
 *
 * @param fields checked
 * @param schema with the graph's resolvers attached
 * @param guards checked
 */
export function bindingsOf(
  fields: readonly EventField[],
  schema: GraphQLSchema,
  definition: GraphDefinition,
  guards: Guards,
): Map<string, Binding> {
  return new Map(
    fields.map((bound): [string, Binding] => {
      const { field, stream: topic, key, argument, condition, shares, replay, delivery: syntax } = bound;
      const types: FilterTypes = {
        field: (path) => typeAt(schema, eventTypeOf(schema, field, definition), path),
        argument: (name) => field.args.find((one) => one.name === name)?.type,
      };
      const filter = condition && compileFilter(condition, types);
      const from = argument === undefined ? undefined : types.argument(argument);
      const held = key === undefined ? undefined : types.field(key.split('.'));
      const keyForm = (value: unknown): unknown => written(value, from && getNamedType(from), held);
      const keyRequired = from !== undefined && isNonNullType(from);
      const keyed = { key, argument, keyRequired, keyForm };
      const rules = subscriptionRules(guards, field, schema, definition);
      const access = rules.length === 0 ? undefined : subscriptionAccess(rules, `Subscription.${field.name}`);
      const { name } = field;
      const delivery = syntax && deliveryOf(syntax);
      // Whether results are compressed may change while subscriptions go on.
      const { compresses, ...rest } = syntax ?? {};
      const terms = termsOf(condition, rules, field.args, delivery && rest);
      return [
        name,
        { field: name, topic, ...keyed, filter, access, shares, replay, delivery, compresses, terms },
      ];
    }),
  );
}

/** Without a resolver, the field returns the event, so all rules of the event's type can be judged by the event. */
function subscriptionRules(
  guards: Guards,
  field: EventField['field'],
  schema: GraphQLSchema,
  definition: GraphDefinition,
): readonly Rule[] {
  const type = schema.getSubscriptionType();
  if (type == null) return [];
  const rules = guards.rulesOf(type, field);
  if (eventTypeOf(schema, field, definition) === undefined) return rules;
  return [...new Set([...rules, ...guards.rulesOfReturned(field)])];
}

interface TopicParts {
  readonly schema: GraphQLSchema;
  readonly definition: GraphDefinition;
  readonly schemas: LocalSchemas;
}

/** The streams of the fields, by name. */
export function streamsOf(fields: readonly EventField[]): Map<string, Stream> {
  const streams = new Map<string, Stream>();
  for (const { stream: name, history } of fields)
    streams.set(name, { name, history: largerHistory(streams.get(name)?.history, history) });
  return streams;
}

/** Each topic as ingest needs it, combined from all fields that name it alike. */
export function topicsOf(
  fields: readonly EventField[],
  streams: ReadonlyMap<string, Stream>,
  parts: TopicParts,
): Map<string, Topic> {
  const { definition } = parts;
  const topics = new Map<string, Topic>();
  for (const bound of fields) {
    const { key, keyStyle, keyFrom } = bound;
    const stream = streams.get(bound.stream) ?? { name: bound.stream };
    for (const name of bound.topics) {
      const known = topics.get(name);
      const keys = new Set(known?.keys);
      if (key !== undefined) keys.add(key);
      topics.set(name, {
        ...(known ?? {
          name,
          pattern: patternOf(name),
          keyStyle,
          decode: definition.decode?.[name],
          ...encoded(name, bound, fields, parts),
        }),
        keys: [...keys],
        kafkaKey: keyFrom === 'KAFKA_KEY' ? key : known?.kafkaKey,
        streams: [...new Set([...(known?.streams ?? []), stream])],
      });
    }
  }
  return topics;
}

/** How a topic's messages become events. All fields of the topic say the same of it. */
function encoded(
  topic: string,
  { encoding, keyStyle }: EventField,
  fields: readonly EventField[],
  { schema, definition, schemas }: TopicParts,
): Pick<Topic, 'format' | 'decodeValue' | 'keyFormat' | 'decodeKey' | 'envelope' | 'from' | 'shape'> {
  const { format, keyFormat, envelope } = encoding;
  const types = fields
    .filter(({ topics }) => topics.some((other) => overlap(topic, other)))
    .map(({ field }) => eventTypeOf(schema, field, definition));
  const holdsNumbers = types.some(
    (type) =>
      type !== undefined &&
      plainFields(schema, type, definition).some(({ field }) => holdsDigits(getNamedType(field.type))),
  );
  // JSON has nothing else that depends on it.
  const event = needsSchema(format) || holdsNumbers ? eventShape(schema, types) : undefined;
  const from = fromFields(schema, types);
  const shape = event && messageShape(event, envelope, from);
  const naming = namingOf(keyStyle);
  return {
    format,
    decodeValue: schemas.get(format, encoding.schema)?.decoder(shape, naming),
    keyFormat,
    decodeKey: schemas.get(keyFormat, encoding.keySchema)?.decoder(KEY_SHAPE, naming),
    envelope,
    from,
    shape,
  };
}

function largerHistory(
  one: HistorySettings | undefined,
  other: HistorySettings | undefined,
): HistorySettings | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    size: Math.max(one.size, other.size),
    ttlMs: Math.max(one.ttlMs, other.ttlMs),
    keepsAll: one.keepsAll || other.keepsAll,
  };
}

function typeAt(
  schema: GraphQLSchema,
  eventType: GraphQLNamedOutputType | undefined,
  path: readonly string[],
): GraphQLNamedType | undefined {
  let type = eventType;
  for (const name of path) {
    const field = type && fieldOf(schema, type, name);
    type = field && getNamedType(field.type);
  }
  return type;
}

/** @param syntax checked */
export function deliveryOf({
  conflateBy,
  throttleMs,
  onSlow,
}: Omit<DeliverySyntax, 'compresses'>): Delivery | undefined {
  if (throttleMs === 0 && onSlow === 'DISCONNECT') return undefined;
  const path = conflateBy?.split('.');
  return {
    keyOf: path === undefined ? () => '' : (event) => keyIn(event, path),
    throttleMs,
    onSlow,
  };
}

/** Returns the value as JSON: a number equals its text, as GraphQL IDs do; absent equals null, but not "null". */
function keyIn(event: Event, path: readonly string[]): string {
  const value = jsonAt(event, path);
  return JSON.stringify(typeof value === 'number' ? String(value) : (value ?? null));
}
