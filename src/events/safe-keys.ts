import type { JsonValue } from './event.ts';
import { DecodeError } from './decode-error.ts';

/**
 * Maximum levels of nested objects and arrays, the event itself included. Everything that walks an event later
 * (freezing, JSON.stringify, resolvers) recurses, so an event that is nested deeper is refused before.
 */
export const MAX_DEPTH = 200;

/** For events whose keys stay unchanged. @throws DecodeError for the same faults as the snake_case transform */
export function checkKeys(value: JsonValue, depth = 1): void {
  if (typeof value !== 'object' || value === null) return;
  checkDepth(depth);
  if (Array.isArray(value)) {
    for (const item of value) checkKeys(item, depth + 1);
    return;
  }
  // All keys are own: these objects come from JSON.parse, and Object.prototype has no enumerable ones.
  for (const key in value) {
    const child = value[key] as JsonValue;
    checkKeys(child, depth + 1);
    checkKey(key, child);
  }
}

export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) {
    throw new DecodeError('too_deep', `expected at most ${MAX_DEPTH} levels of nesting, got more`);
  }
}

/**
 * The rule of secure-json-parse: `__proto__` never, `constructor` unless it holds a `prototype`. These keys would harm
 * deep merges in a graph's own code.
 */
export function checkKey(key: string, child: JsonValue): void {
  if (key === '__proto__') throw new DecodeError('forbidden_key', 'expected no key __proto__, got one');
  if (
    key === 'constructor' &&
    typeof child === 'object' &&
    child !== null &&
    Object.hasOwn(child, 'prototype')
  ) {
    throw new DecodeError(
      'forbidden_key',
      'expected no object with a key prototype under constructor, got one',
    );
  }
}
