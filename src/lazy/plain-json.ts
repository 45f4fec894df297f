import type { Json } from './reads.ts';

/** Levels of nesting that a viewer may have. */
const MAX_DEPTH = 32;

/**
 * A deep-frozen copy of plain JSON.
 *
 * @param what name of the value in error messages
 * @throws TypeError for a value that would not survive JSON text unchanged: a function, a date, a class instance, a
 *   circle
 */
export function frozenJson(value: unknown, what: string): Json {
  return copyOf(value, what, 0);
}

function copyOf(value: unknown, place: string, depth: number): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (depth > MAX_DEPTH)
    throw new TypeError(`${place}: expected at most ${MAX_DEPTH} levels, got more or a circle`);
  if (Array.isArray(value)) {
    return Object.freeze(
      Array.from(value, (item: unknown, index) => copyOf(item, `${place}[${index}]`, depth + 1)),
    );
  }
  if (isPlainObject(value)) {
    // Properties that are undefined are left out, as JSON.stringify does.
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.freeze(
      Object.fromEntries(entries.map(([key, item]) => [key, copyOf(item, `${place}.${key}`, depth + 1)])),
    );
  }
  throw new TypeError(`${place}: expected plain JSON, got ${describe(value)}`);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The Object.prototype of any node:vm context: it is the object without a prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null) return `an instance of ${value.constructor.name}`;
  return typeof value === 'number' ? String(value) : `a ${typeof value}`;
}
