import { types } from 'node:util';
import { isRecorder } from './recorder.ts';

/** Most objects that are checked in the arguments of one call; keys of loaders have a few. */
const MAX_OBJECTS = 10_000;

/** Objects that can never hold a viewer, as everything in them is frozen: for example an event, passed to many calls. */
const without = new WeakSet<object>();

/**
 * Refuses an execution's viewer, and a context, in the arguments of a shared loader's call. The loader would answer all
 * viewers with values that it read of the first one, and only the first one's execution would record the reads:
 *
 *     cacheKeyFn: (viewer) => viewer.team     read by each execution
 *     batch: ([viewer]) => viewer.id          read of the first one, for all of the team
 *
 * Private fields, and variables of closures, are out of reach.
 *
 * @throws TypeError that says what to pass instead
 */
export function demandNoViewer(args: readonly unknown[]): void {
  for (const arg of args) if (isObject(arg) && !without.has(arg)) demandNone(arg);
}

function demandNone(root: object): void {
  const seen = new Set([root]);
  let isFrozen = true;
  for (const object of seen) {
    if (isRecorder(object)) throw refused('the viewer, or a part of it');
    if (isContext(object)) throw refused('a context, which has the viewer');
    isFrozen &&= Object.isFrozen(object) && !isCollection(object);
    for (const part of partsOf(object)) {
      if (isObject(part) && !without.has(part) && seen.size < MAX_OBJECTS) seen.add(part);
    }
  }
  if (isFrozen && seen.size < MAX_OBJECTS) without.add(root);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isCollection(object: object): object is Map<unknown, unknown> | Set<unknown> {
  return object instanceof Map || object instanceof Set;
}

/** The context of an execution is a proxy. It is checked by key, as none of its values may be built. */
function isContext(object: object): boolean {
  return types.isProxy(object) && 'viewerLoaders' in object && 'viewer' in object;
}

/** The values that an object holds. Calls no accessor, so that no lazy value is built. */
function* partsOf(object: object): Iterable<unknown> {
  if (ArrayBuffer.isView(object)) return;
  if (Array.isArray(object) && !types.isProxy(object)) {
    yield* object;
    return;
  }
  if (object instanceof Map) for (const entry of object) yield* entry;
  if (object instanceof Set) yield* object;
  for (const key of Reflect.ownKeys(object)) yield Reflect.getOwnPropertyDescriptor(object, key)?.value;
}

function refused(what: string): TypeError {
  return new TypeError(
    `expected arguments that are the same for all viewers who share a loader, got ${what}: ` +
      'pass the values that it needs instead, such as viewer.id or [...viewer.teams], or use viewerLoaders',
  );
}
