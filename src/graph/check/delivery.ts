import { getNamedType, isCompositeType, type GraphQLNamedOutputType, type GraphQLSchema } from 'graphql';
import { snakeCase } from '../../events/snake-case.ts';
import type { Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { fieldNames, fieldOf, isList, isSnakeCase } from '../event-type.ts';

/**
 * Compares `@delivery(conflateBy:)` with the schema.
 *
 * @param eventType undefined if the field has a resolver, so that the schema does not say what events contain
 */
export function checkDelivery(
  { delivery, keyStyle, placeOfDelivery }: EventField,
  schema: GraphQLSchema,
  eventType: GraphQLNamedOutputType | undefined,
  findings: Findings,
): void {
  const { conflateBy } = delivery ?? {};
  if (conflateBy === undefined) return;
  const at = placeOfDelivery('conflateBy');
  if (keyStyle === 'SNAKE' && !isSnakeCase(conflateBy)) {
    const message = `no event can have the field "${conflateBy}": keys of events become snake_case before they get here`;
    findings.error(at, message, `Write ${snakeCase(conflateBy)}, or @event(keys: KEEP).`);
  }
  if (eventType === undefined || !isCompositeType(eventType)) return;
  const held = fieldOf(schema, eventType, conflateBy);
  if (held === undefined) {
    const message = `conflateBy "${conflateBy}" is no field of ${eventType.name}`;
    const instead = conflateBy.includes('.')
      ? 'conflateBy takes a field at the top level of the event, and no path. '
      : '';
    findings.error(at, message, `${instead}Fields of ${eventType.name}: ${fieldNames(schema, eventType)}.`);
  } else if (isList(held.type) || isCompositeType(getNamedType(held.type))) {
    const message = `conflateBy "${conflateBy}" is a field of type ${held.type.toString()}, expected a scalar or an enum`;
    findings.error(at, message, 'Conflate by an ID, for instance.');
  }
}
