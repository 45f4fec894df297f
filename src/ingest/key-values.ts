import type { Event, JsonValue } from '../events/event.ts';
import type { SnakeCase } from '../events/snake-case.ts';
import type { Topic } from '../graph/graph.ts';

/** @returns an object that holds, by key, what the event has there; it may hold more */
export type KeyValues = (event: Event) => Event;

/** Takes fields of these names, as they are. */
type PickFields = (object: Event, names: readonly string[]) => Event;

/**
 * Returns a function that reads the values of a topic's keys from all of its events. It looks keys up by the names that
 * they will have, so that no other key must be renamed for it.
 */
export function keyValuesOf(
  { keys, keyStyle }: Pick<Topic, 'keys' | 'keyStyle'>,
  snakeCase: SnakeCase,
): KeyValues {
  const pick: PickFields = keyStyle === 'SNAKE' ? (object, names) => snakeCase.pick(object, names) : pickOwn;
  const paths = keys.map((key) => ({ key, path: key.split('.') }));
  const nested = paths.flatMap(({ key, path: [head = '', ...below] }) =>
    below.length === 0 ? [] : { key, head, below: below.map((name) => [name] as const) },
  );
  if (nested.length === 0)
    return keyStyle === 'SNAKE' ? (event) => snakeCase.pick(event, keys) : (event) => event;
  const heads = [...new Set(paths.flatMap(({ path }) => path.slice(0, 1)))];
  return (event) => {
    const values = pick(event, heads);
    for (const { key, head, below } of nested) {
      const value = valueBelow(values[head], below, pick);
      if (value !== undefined) values[key] = value;
    }
    return values;
  };
}

/** Null if an object on the way is null: the producer says that there is no value. Undefined: there is no such field. */
function valueBelow(
  top: JsonValue | undefined,
  names: readonly (readonly [string])[],
  pick: PickFields,
): JsonValue | undefined {
  let value = top;
  for (const name of names) {
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value)) return undefined;
    value = pick(value, name)[name[0]];
  }
  return value;
}

function pickOwn(object: Event, names: readonly string[]): Event {
  const picked = Object.create(null) as Event;
  for (const name of names) if (Object.hasOwn(object, name)) picked[name] = object[name] as JsonValue;
  return picked;
}
