import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLNamedOutputType,
  type GraphQLSchema,
} from 'graphql';
import { snakeCase } from '../../events/snake-case.ts';
import { checkDelivery } from './delivery.ts';
import { FilterCheck } from './filter.ts';
import { checkKafkaKeys } from './kafka-keys.ts';
import type { GraphDefinition } from '../api/define-graph.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { eventTypeOf, fieldOf, isList, isSnakeCase, plainFields } from '../event-type.ts';

/** Compares `@event`, `@filter` and `@delivery` of all subscription fields with the types of the schema and with each other. */
export function checkEventFields(
  fields: readonly EventField[],
  schema: GraphQLSchema,
  definition: GraphDefinition,
  file: string,
  findings: Findings,
): void {
  const filters = new FilterCheck(schema, definition, file, findings);
  for (const field of fields) {
    const eventType = eventTypeOf(schema, field.field, definition);
    if (eventType !== undefined) checkEventType(field, findings);
    checkKey(field, schema, eventType, findings);
    checkDelivery(field, schema, eventType, findings);
    if (field.condition) filters.check(field.condition, field.field, eventType);
  }
  checkKeyStyles(fields, findings);
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

function checkKey(
  { field, key, keyStyle, placeOfArgument, place }: EventField,
  schema: GraphQLSchema,
  eventType: GraphQLNamedOutputType | undefined,
  findings: Findings,
): void {
  if (key === undefined) return;
  const at = placeOfArgument('key');
  const argument = field.args.find(({ name }) => name === key);
  if (argument === undefined) {
    const message = `key "${key}" is no argument of Subscription.${field.name}`;
    const known = listed(field.args.map(({ name }) => name));
    findings.error(
      at,
      message,
      `Arguments: ${known}. The key names an event field and the argument that picks it.`,
    );
  } else {
    const type = getNullableType(argument.type);
    const element = isListType(type) ? getNullableType(type.ofType) : type;
    if (isInputObjectType(element) || isListType(element)) {
      const message = `key "${key}" picks channels by ${argument.type.toString()}, expected a scalar, an enum or a list of them`;
      findings.error(placeOf(argument.astNode, at.file), message, 'Pick by an ID, for instance.');
    } else if (!isNonNullType(argument.type)) {
      findings.warning(
        argument.astNode ? placeOf(argument.astNode, at.file) : place,
        `key argument "${key}" of Subscription.${field.name} may be null: leaving it out yields everyone's events`,
        `If that is not meant, write ${key}: ${argument.type.toString()}!`,
      );
    }
  }
  if (keyStyle === 'SNAKE' && !isSnakeCase(key)) {
    const message = `no event can have the key "${key}": keys of events become snake_case before they get here`;
    findings.error(at, message, `Call field and argument ${snakeCase(key)}, or write @event(keys: KEEP).`);
  }
  if (eventType === undefined || !isCompositeType(eventType)) return;
  const eventField = fieldOf(schema, eventType, key);
  if (eventField === undefined) {
    const message = `key "${key}" is no field of ${eventType.name}`;
    const hint = `Add ${key} to ${eventType.name}: the key names an event field, so that events can be routed by it.`;
    findings.error(at, message, hint);
  } else if (isCompositeType(getNamedType(eventField.type))) {
    const message = `key "${key}" is a field of type ${eventField.type.toString()}: events are routed by scalars and enums`;
    findings.error(at, message, 'Route by the ID of that object, as a field of the event.');
  }
}

/** The keys of a topic's events are converted once for all fields that are bound to it. */
function checkKeyStyles(fields: readonly EventField[], findings: Findings): void {
  const first = new Map<string, EventField>();
  for (const field of fields) {
    const { topic, keyStyle } = field;
    const other = first.get(topic);
    if (other === undefined) first.set(topic, field);
    else if (other.keyStyle !== keyStyle) {
      const message = `topic "${topic}" is shown with keys: ${keyStyle} here and with keys: ${other.keyStyle} by Subscription.${other.field.name}`;
      findings.error(
        field.placeOfArgument('keys'),
        message,
        'All fields that show a topic need the same keys.',
      );
    }
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
        `Call it ${snakeCase(name)}, give it a resolver, or write @event(keys: KEEP) on Subscription.${field.name}.`,
      );
    }
  }
}
