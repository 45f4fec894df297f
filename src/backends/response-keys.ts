import type { JsonValue } from '../events/event.ts';
import { checkKeys } from '../events/safe-keys.ts';
import { SnakeCase } from '../events/snake-case.ts';

/**
 * For each key style, a function that converts the keys of a back end's response. Both throw for a key that could
 * pollute prototypes.
 */
export function responseKeys() {
  const snakeCase = new SnakeCase();
  return {
    SNAKE: (value: JsonValue) => snakeCase.transform(value),
    KEEP: (value: JsonValue) => {
      checkKeys(value);
      return value;
    },
  };
}
