import type { JsonValue } from '../events/event.ts';
import { checkKeys } from '../events/safe-keys.ts';
import { SnakeCase } from '../events/snake-case.ts';

/** What becomes of the keys that back ends answer with, by a graph's choice; either refuses keys that could pollute. */
export function backendKeys() {
  const snakeCase = new SnakeCase();
  return {
    SNAKE: (value: JsonValue) => snakeCase.transform(value),
    KEEP: (value: JsonValue) => {
      checkKeys(value);
      return value;
    },
  };
}
