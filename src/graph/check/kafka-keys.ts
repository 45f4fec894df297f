import type { GraphQLSchema } from 'graphql';
import type { GraphDefinition } from '../api/define-graph.ts';
import type { Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { eventTypeOf, followPath, isList } from '../event-type.ts';

/**
 * With `keyFrom: KAFKA_KEY` the Kafka key alone decides which channels a message goes to. So all fields of a topic with
 * a key must be routed by the Kafka key, or their subscribers would miss events.
 */
export function checkKafkaKeys(
  fields: readonly EventField[],
  schema: GraphQLSchema,
  definition: GraphDefinition,
  findings: Findings,
): void {
  for (const field of fields) {
    if (field.keyFrom !== 'KAFKA_KEY') continue;
    const at = field.placeOfArgument('keyFrom');
    const { key, topic } = field;
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
    const other = fields.find((one) => one.topic === topic && contradicts(one, key));
    if (other !== undefined) {
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
