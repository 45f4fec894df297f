import {
  getNamedType,
  isCompositeType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLNamedOutputType,
} from 'graphql';
import { snakeCase } from '../../events/snake-case.ts';
import { needsSchema } from '../encoding/encoding.ts';
import { checkFrom } from '../encoding/from-fields.ts';
import { FilterCheck } from './filter.ts';
import { KeyCheck } from './key.ts';
import type { GraphDefinition } from '../api/define-graph.ts';
import { placeOf, type Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { directivesOf } from '../entities/entities.ts';
import { isTopicName, overlap } from '../topics.ts';
import { eventTypeOf, isList, isSnakeCase, plainFields, fieldNames, followPath } from '../event-type.ts';

/** Compares `@event`, `@filter` and `@delivery` of all fields with the schema's types and with each other. */
export function checkEventFields(
  fields: readonly EventField[],
  schema: GraphQLSchema,
  definition: GraphDefinition,
  file: string,
  findings: Findings,
): void {
  const filters = new FilterCheck(schema, definition, file, findings);
  const keys = new KeyCheck(schema, definition, findings);
  for (const field of fields) {
    const eventType = eventTypeOf(schema, field.field, definition);
    if (eventType !== undefined) checkEventType(field, findings);
    keys.check(field, eventType);
    checkDelivery(field, schema, eventType, findings);
    if (field.condition) filters.check(field.condition, field.field, eventType);
  }
  checkAgreement(fields, findings);
  checkDecode(fields, definition, findings);
  checkDeletions(fields, findings);
  const eventTypes = fields.flatMap(({ field }) => eventTypeOf(schema, field, definition) ?? []);
  checkFrom(schema, new Set(eventTypes), file, findings);
  checkKafkaKeys(fields, schema, definition, findings);
  checkSnakeCase(fields, schema, definition, file, findings);
}

/** Without a resolver the field's value is the event, which is an object. */
function checkEventType({ field, place }: EventField, findings: Findings): void {
  const named = getNamedType(field.type);
  const holdsObject = isCompositeType(named) || (isScalarType(named) && !isSpecifiedScalarType(named));
  if (holdsObject && !isList(field.type)) return;
  findings.error(
    place,
    `Subscription.${field.name}: an event is an object, got the type ${field.type.toString()}`,
    'Give it an object type, or a resolver that makes this type of the event.',
  );
}

/** Messages of a topic are decoded once, for all fields that are bound to it: these arguments must be equal. */
function checkAgreement(fields: readonly EventField[], findings: Findings): void {
  for (const [index, field] of fields.entries()) {
    const here = decodingOf(field);
    const told = new Set<string>();
    // Each pair is compared: two fields that share a topic with a third one may share none with each other.
    for (const other of fields.slice(0, index)) {
      const topic = sharedTopic(other, field);
      if (topic === undefined) continue;
      const there = decodingOf(other);
      for (const [name, value] of Object.entries(here)) {
        if (value === there[name] || told.has(name)) continue;
        told.add(name);
        const message = `topic "${topic}" is shown with ${name}: ${value} here and with ${name}: ${there[name]} by Subscription.${other.field.name}`;
        findings.error(
          field.placeOfArgument(name),
          message,
          `All fields that show a topic need the same ${name}.`,
        );
      }
    }
  }
}

/** @returns a topic that both fields show: its name, rather than a pattern */
function sharedTopic(one: EventField, other: EventField): string | undefined {
  const shared = one.topics.flatMap((topic) =>
    other.topics.flatMap((its) => (overlap(topic, its) ? [topic, its] : [])),
  );
  return shared.find(isTopicName) ?? shared[0];
}

/** The arguments of `@event` that say how messages are decoded, as they are written. */
function decodingOf({ keyStyle, encoding }: EventField): Readonly<Record<string, string>> {
  const { format, keyFormat = 'none', schema, keySchema, envelope } = encoding;
  return {
    keys: keyStyle,
    format,
    keyFormat,
    schema: schema === undefined ? 'none' : `"${schema}"`,
    keySchema: keySchema === undefined ? 'none' : `"${keySchema}"`,
    envelope,
  };
}

/** A deletion names its row by the Kafka key, which is noted as text. */
function checkDeletions(fields: readonly EventField[], findings: Findings): void {
  for (const { topics, encoding, history, placeOfArgument } of fields) {
    const { format, keyFormat, envelope } = encoding;
    if (envelope !== 'DEBEZIUM' || history === undefined) continue;
    if (!needsSchema(format) || keyFormat !== undefined) continue;
    findings.warning(
      placeOfArgument('envelope'),
      `rows of topic "${topics.join('", "')}" that are deleted stay in what is kept of it: its Kafka keys are read as text`,
      `If they are encoded as values are, write keyFormat: ${format}.`,
    );
  }
}

/** A topic's own decode makes the whole event. */
function checkDecode(fields: readonly EventField[], { decode }: GraphDefinition, findings: Findings): void {
  for (const { topics, encoding, placeOfArgument } of fields) {
    const topic = topics.find((name) => decode?.[name] !== undefined);
    if (topic === undefined) continue;
    const { format, envelope } = encoding;
    const argument = format === 'JSON' ? 'envelope' : 'format';
    if (format === 'JSON' && envelope === 'NONE') continue;
    findings.error(
      placeOfArgument(argument),
      `${argument}: expected none, as the graph's code has a decode for the topic "${topic}", got ${encoding[argument]}`,
      `Leave ${argument} out, or drop the decode.`,
    );
  }
}

function checkSnakeCase(
  fields: readonly EventField[],
  schema: GraphQLSchema,
  definition: GraphDefinition,
  file: string,
  findings: Findings,
): void {
  const seen = new Set<string>();
  for (const { field, keyStyle } of fields) {
    const eventType = eventTypeOf(schema, field, definition);
    if (keyStyle !== 'SNAKE' || eventType === undefined) continue;
    for (const plain of plainFields(schema, eventType, definition)) {
      const { name, astNode } = plain.field;
      const coordinate = `${plain.type}.${name}`;
      if (isSnakeCase(name) || seen.has(coordinate)) continue;
      seen.add(coordinate);
      findings.error(
        placeOf(astNode, file),
        `${coordinate} can never be filled: keys of events become snake_case before they get here`,
        isOfKey(plain.field, schema.getType(plain.type))
          ? `It is part of the @key, by which other services know it: write @event(keys: KEEP) on Subscription.${field.name}.`
          : `Call it ${snakeCase(name)}, give it a resolver, or write @event(keys: KEEP) on Subscription.${field.name}.`,
      );
    }
  }
}

function isOfKey({ name }: EventField['field'], type: GraphQLNamedType | undefined): boolean {
  if (type === undefined) return false;
  const texts = directivesOf(type, 'key').flatMap(({ arguments: args = [] }) =>
    args.flatMap(({ value }) => (value.kind === Kind.STRING ? value.value : [])),
  );
  return texts.some((text) => text.split(/\W+/).includes(name));
}

/**
 * Compares `@delivery(conflateBy:)` with the schema.
 *
 * @param eventType undefined if the field has a resolver, so that the schema does not say what events contain
 */
function checkDelivery(
  { delivery, keyStyle, placeOfDelivery }: EventField,
  schema: GraphQLSchema,
  eventType: GraphQLNamedOutputType | undefined,
  findings: Findings,
): void {
  const { conflateBy } = delivery ?? {};
  if (conflateBy === undefined) return;
  const at = placeOfDelivery('conflateBy');
  const path = conflateBy.split('.');
  if (keyStyle === 'SNAKE' && !path.every(isSnakeCase)) {
    const message = `no event can have the field "${conflateBy}": keys of events become snake_case before they get here`;
    findings.error(at, message, `Write ${path.map(snakeCase).join('.')}, or @event(keys: KEEP).`);
  }
  if (eventType === undefined || !isCompositeType(eventType)) return;
  const { steps, stop } = followPath(schema, eventType, path);
  const type = steps.at(-1)?.field.type;
  if (stop?.kind === 'opaque') return;
  if (stop !== undefined) {
    const { parent, name } = stop;
    const whole = `conflateBy "${conflateBy}"`;
    if (!isCompositeType(parent) || stop.kind === 'list') {
      const message = `${whole}: "${name}" stands below a field of type ${String(type)}`;
      findings.error(at, message, 'A path leads through objects, and not into lists.');
      return;
    }
    const message =
      steps.length === 0
        ? `${whole} is no field of ${parent.name}`
        : `${whole}: ${parent.name} has no field "${name}"`;
    findings.error(at, message, `Fields of ${parent.name}: ${fieldNames(schema, parent)}.`);
  } else if (type !== undefined && (isList(type) || isCompositeType(getNamedType(type)))) {
    const message = `conflateBy "${conflateBy}" is a field of type ${type.toString()}, expected a scalar or an enum`;
    findings.error(at, message, 'Conflate by an ID, for instance.');
  }
}

/**
 * With `keyFrom: KAFKA_KEY` the Kafka key alone decides which channels a message goes to. So all fields of a topic with
 * a key must be routed by the Kafka key, or their subscribers would miss events.
 */
function checkKafkaKeys(
  fields: readonly EventField[],
  schema: GraphQLSchema,
  definition: GraphDefinition,
  findings: Findings,
): void {
  for (const field of fields) {
    if (field.keyFrom !== 'KAFKA_KEY') continue;
    const at = field.placeOfArgument('keyFrom');
    const { key } = field;
    if (key === undefined) {
      findings.error(
        at,
        'keyFrom: KAFKA_KEY without a key: expected the event field whose value the Kafka key holds',
        'Add key: "…".',
      );
      continue;
    }
    const eventType = eventTypeOf(schema, field.field, definition);
    const path = eventType && followPath(schema, eventType, key.split('.'));
    const held = path?.stop === undefined ? path?.steps.at(-1)?.field : undefined;
    if (held && isList(held.type)) {
      findings.error(
        at,
        `keyFrom: KAFKA_KEY, but key "${key}" is a list: a Kafka key holds one value`,
        'Leave keyFrom out: all values of the list are then read from the event.',
      );
    }
    const other = fields.find((one) => sharedTopic(one, field) !== undefined && contradicts(one, key));
    if (other !== undefined) {
      const topic = sharedTopic(other, field);
      findings.error(
        at,
        `keyFrom: KAFKA_KEY, but Subscription.${other.field.name} routes the events of topic "${topic}" by "${other.key}" of the event`,
        'All fields with a key that show a topic need the same key and keyFrom.',
      );
    }
  }
}

function contradicts({ key, keyFrom }: EventField, kafkaKey: string): boolean {
  return key !== undefined && (key !== kafkaKey || keyFrom !== 'KAFKA_KEY');
}
