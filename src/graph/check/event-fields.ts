import {
  getNamedType,
  isCompositeType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLSchema,
} from 'graphql';
import { snakeCase } from '../../events/snake-case.ts';
import { checkDelivery } from './delivery.ts';
import { FilterCheck } from './filter.ts';
import { checkKafkaKeys } from './kafka-keys.ts';
import { KeyCheck } from './key.ts';
import type { GraphDefinition } from '../api/define-graph.ts';
import { placeOf, type Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { eventTypeOf, isList, isSnakeCase, plainFields } from '../event-type.ts';

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
