import lodash from 'lodash';
import type { JsonValue } from '../../../src/events/event.ts';
import { SnakeCase } from '../../../src/events/snake-case.ts';

/** Converts an event's keys to snake_case. Subscribers share the object that comes from Redis. */
export type ConvertKeys = (event: JsonValue) => JsonValue;

const names = new SnakeCase();

/** Short code, but slow: lodash takes every key apart into words. */
export const byLodash: ConvertKeys = (value) => {
  if (lodash.isArray(value)) return lodash.map(value, byLodash);
  if (!lodash.isPlainObject(value)) return value;
  return lodash.mapValues(
    lodash.mapKeys(value as object, (_, key) => lodash.snakeCase(key)),
    byLodash,
  );
};

export const native: ConvertKeys = (value) =>
  convert(value, (key) => key.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`));

/** Each name is converted only once. */
export const memoized: ConvertKeys = (value) => convert(value, (key) => names.name(key));

/** Replaces the items of an array in place, as the gateway's ingest does. */
export const arraysInPlace: ConvertKeys = (value) => names.transform(value);

function convert(value: JsonValue, rename: (key: string) => string): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => convert(item, rename));
  const converted: { [key: string]: JsonValue } = {};
  for (const key in value) converted[rename(key)] = convert(value[key] as JsonValue, rename);
  return converted;
}
