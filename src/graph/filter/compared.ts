import type { Event } from '../../events/event.ts';
import { jsonAt, type Json } from '../../lazy/reads.ts';
import type { Comparison, Condition } from './syntax.ts';

/** Looks up what a comparison compares with; undefined: nothing, so it is left out or lets nothing through. */
type ValueOf = (comparison: Comparison, viewer: Json) => unknown;

/** What a filter compares for an event and a viewer, for people: `amount.value gte 100: got 42`. */
export function comparedIn(condition: Condition, event: Event, viewer: Json, valueOf: ValueOf): string[] {
  if (condition.kind === 'not') {
    return comparedIn(condition.condition, event, viewer, valueOf).map((text) => `not (${text})`);
  }
  if (condition.kind !== 'comparison') {
    return condition.conditions.flatMap((inner) => comparedIn(inner, event, viewer, valueOf));
  }
  const path = condition.path.map(({ value }) => value);
  const got = jsonAt(event as Json, path);
  return [`${path.join('.')} ${condition.operator} ${shown(valueOf(condition, viewer))}: got ${shown(got)}`];
}

const MAX_CHARACTERS = 200;

export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
