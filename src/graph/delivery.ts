import type { Event } from '../events/event.ts';
import { jsonAt } from '../lazy/reads.ts';
import type { DeliverySyntax } from './directives/delivery.ts';
import type { Delivery } from './graph.ts';

/** @param syntax checked */
export function deliveryOf({ conflateBy, throttleMs, onSlow }: DeliverySyntax): Delivery | undefined {
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
