import type { Event } from '../events/event.ts';
import type { DeliverySyntax } from './directives/delivery.ts';
import type { Delivery } from './graph.ts';

/** @param syntax checked */
export function deliveryOf({ conflateBy, throttleMs, onSlow }: DeliverySyntax): Delivery | undefined {
  if (throttleMs === 0 && onSlow === 'DISCONNECT') return undefined;
  return {
    keyOf: conflateBy === undefined ? () => '' : (event) => keyIn(event, conflateBy),
    throttleMs,
    onSlow,
  };
}

/** As GraphQL IDs are compared, a number equals its text. Absent is null; both differ from the text "null". */
function keyIn(event: Event, name: string): string {
  const value = Object.hasOwn(event, name) ? event[name] : null;
  return JSON.stringify(typeof value === 'number' ? String(value) : (value ?? null));
}
