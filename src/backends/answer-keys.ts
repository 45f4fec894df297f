import type { JsonValue } from '../events/event.ts';
import { checkKeys } from '../events/safe-keys.ts';
import { SnakeCase } from '../events/snake-case.ts';

/** Transforms the keys of back ends' answers, by the graph's choice of style; both refuse keys that could pollute prototypes. */
export function answerKeys() {
  const snakeCase = new SnakeCase();
  return {
    SNAKE: (value: JsonValue) => snakeCase.transform(value),
    KEEP: (value: JsonValue) => {
      checkKeys(value);
      return value;
    },
  };
}
