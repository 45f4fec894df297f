import { getNamedType, isCompositeType, type GraphQLNamedOutputType, type GraphQLSchema } from 'graphql';
import { snakeCase } from '../../events/snake-case.ts';
import type { Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { fieldNames, followPath, isList, isSnakeCase } from '../event-type.ts';

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
