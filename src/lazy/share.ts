import { EventEmitter } from 'node:events';
import { shareLazy } from './lazy-object.ts';
import { copyOf, isCopied, isLockable, lock } from './locks.ts';
import { isView, readOnlyView, type ViewRules } from './read-only-view.ts';

/**
 * Makes values safe that executions for different viewers get, so that none can hand another one what it has written:
 *
 *     data: objects, lists, class instances     frozen, with all that they hold
 *     Map, Set, Date                            frozen, and the methods that change them throw
 *     Buffer and other bytes, URL               each reader gets a copy
 *     Proxy.lazy                                stays lazy; each value is made safe when it is built
 *     getters                                   what they return is made safe
 *     promises                                  what they become is made safe
 *     functions and classes                     a view: what calls return, and properties hold, is made safe
 *     loaders, iterators, event emitters        a view that can be read, and whose methods can be called
 *
 * Private fields of class instances, and what closures keep, are beyond reach.
 */

/** Objects that have been walked: what was returned, and what was frozen before. */
const walked = new WeakSet<object>();
/** Promises that are made here, and lazy objects that are shared. */
const made = new WeakSet<object>();
const viewed = new WeakMap<object, object>();

const RULES: ViewRules = {
  share: sharePart,
  // What DataLoader offers for changing its cache.
  refuses: (method) => method === 'prime' || method === 'clear' || method === 'clearAll',
};

/** The view that executions get of an event's loaders. */
export function shareLoaders<T extends object>(loaders: T): T {
  return readOnlyView(loaders, RULES);
}

/** The view that executions get of an event's primers, which the gateway calls. */
export function sharePrimers<T extends object>(primers: T): T {
  return readOnlyView(primers, { share, refuses: () => true });
}

/**
 * @returns the value itself, made safe in place; for what can't be made so, something safe in its stead
 * @throws TypeError for what is neither
 */
function share(value: unknown): unknown {
  const safe = replacementOf(value);
  if (safe === value && isObject(value) && !isSafe(value)) {
    freezeAll(value);
    walked.add(value);
  }
  return safe;
}

/** For a part of an event's loaders: an object with methods may be a loader, or hold some, and works on its own state. */
function sharePart(value: unknown): unknown {
  const safe = replacementOf(value);
  if (safe !== value || !isObject(value)) return safe;
  return !isSafe(value) && hasMethods(value) ? viewOf(value) : share(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** What must take the value's place; the value itself, if it can be frozen or is safe already. */
function replacementOf(value: unknown): unknown {
  if (typeof value === 'function') return viewOf(value);
  if (!isObject(value) || isSafe(value)) return value;
  if (shareLazy(value, share)) {
    made.add(value);
    return value;
  }
  if (!isPlain(value) && isCopied(value)) return copyOf(value);
  if (isService(value)) return viewOf(value);
  return 'then' in value && typeof value.then === 'function' ? sharedPromise(value as never) : value;
}

/** An object literal, or a list: by far most of what loaders return. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype;
}

function isSafe(value: object): boolean {
  return walked.has(value) || made.has(value) || isView(value);
}

function isService(value: object): boolean {
  const { load, next } = value as { readonly load?: unknown; readonly next?: unknown };
  if (typeof load === 'function' || typeof next === 'function') return true;
  if (isPlain(value)) return false;
  return value instanceof EventEmitter || value instanceof EventTarget;
}

function viewOf(target: object): object {
  if (isView(target)) return target;
  const known = viewed.get(target);
  if (known !== undefined) return known;
  const view = readOnlyView(target, RULES);
  viewed.set(target, view);
  return view;
}

function hasMethods(object: object): boolean {
  if (Array.isArray(object) || object instanceof Error || isLockable(object)) return false;
  const prototype: unknown = Reflect.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return true;
  return Reflect.ownKeys(object).some(
    (key) => typeof Reflect.getOwnPropertyDescriptor(object, key)?.value === 'function',
  );
}

function sharedPromise(promise: PromiseLike<unknown>): Promise<unknown> {
  const safe = Promise.resolve(promise).then(share, (reason: unknown) => {
    throw share(reason);
  });
  // A resolver need not look at it.
  safe.catch(() => undefined);
  made.add(safe);
  return safe;
}

/** Goes by a list of its own instead of the stack: there may be any number of objects within one another. */
function freezeAll(root: object): void {
  const found: object[] = [];
  try {
    freezeFrom(root, found);
  } catch (error) {
    // Or the next reader would get as safe what is not.
    for (const object of found) walked.delete(object);
    throw error;
  }
}

/** @param found gets the objects that are marked as walked */
function freezeFrom(root: object, found: object[]): void {
  const pending = [root];
  const keep = (value: unknown): unknown => {
    const safe = replacementOf(value);
    if (safe === value && isObject(value) && !isSafe(value)) pending.push(value);
    return safe;
  };
  for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
    if (Object.isFrozen(object)) {
      // Frozen here, or before by the graph: then what it holds need not be frozen. Walked once more at most.
      if (walked.has(object)) continue;
      walked.add(object);
      found.push(object);
    }
    const data = isPlain(object);
    if (!data) keepItems(object, keep);
    for (const key of Reflect.ownKeys(object)) keepProperty(object, key, keep);
    if (!data) lock(object);
    Object.freeze(object);
  }
}

type Keep = (value: unknown) => unknown;

function keepItems(object: object, keep: Keep): void {
  if (object instanceof Map) {
    for (const [key, value] of object as Map<unknown, unknown>) {
      const [safeKey, safe] = [keep(key), keep(value)];
      if (safeKey !== key) throw unsafe(key, 'a key of a Map');
      if (safe !== value) replaceIn(object, key, safe);
    }
  } else if (object instanceof Set) {
    for (const item of object as Set<unknown>) if (keep(item) !== item) throw unsafe(item, 'in a Set');
  }
}

function replaceIn(map: Map<unknown, unknown>, key: unknown, safe: unknown): void {
  if (isObject(safe) && isCopied(safe)) throw unsafe(safe, 'in a Map');
  map.set(key, safe);
}

function keepProperty(object: object, key: PropertyKey, keep: Keep): void {
  const { value, get, configurable, writable, enumerable } = Reflect.getOwnPropertyDescriptor(
    object,
    key,
  ) as PropertyDescriptor & { value: unknown; get?: () => unknown };
  if (get === undefined && typeof value !== 'object' && typeof value !== 'function') return;
  if (get !== undefined) {
    if (configurable === true)
      replaceByGetter(object, key, enumerable, (self) => share(Reflect.apply(get, self, [])));
    return;
  }
  const safe = keep(value);
  if (safe === value) return;
  if (configurable !== true && writable !== true)
    throw unsafe(value, `under ${String(key)} of a frozen object`);
  if (isObject(value) && isCopied(value)) replaceByGetter(object, key, enumerable, () => copyOf(value));
  else Reflect.defineProperty(object, key, { value: safe });
}

function replaceByGetter(
  object: object,
  key: PropertyKey,
  enumerable: boolean | undefined,
  read: (self: unknown) => unknown,
): void {
  Object.defineProperty(object, key, {
    get(this: unknown) {
      return read(this);
    },
    enumerable: enumerable === true,
    configurable: false,
  });
}

function unsafe(value: unknown, where: string): TypeError {
  const what = isObject(value) ? value.constructor.name : typeof value;
  return new TypeError(
    `expected what can be made read only, as viewers share what an event's loaders return; got ${what} ${where}`,
  );
}
