import { EventEmitter } from 'node:events';
import { shareLazy } from './lazy-object.ts';
import { copyOf, isCopied, isLockable, lock } from './locks.ts';
import { isView, readOnlyView, type ViewRules } from './read-only-view.ts';

/**
 * Makes values safe to share between executions for different viewers: none may see what another has written.
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
 * Private fields of class instances, and variables of closures, are out of reach.
 */

/** Objects that have been walked: those that were returned, and those that were frozen before. */
const walked = new WeakSet<object>();
/** Promises made here, and shared lazy objects. */
const made = new WeakSet<object>();
const viewed = new WeakMap<object, object>();

const RULES: ViewRules = {
  share: sharePart,
  // DataLoader's methods that change its cache.
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
 * @returns the value itself, made safe in place; or a safe replacement if that is not possible
 * @throws TypeError if neither is possible
 */
function share(value: unknown): unknown {
  const safe = replacementOf(value);
  if (safe === value && isObject(value) && !isSafe(value)) {
    freezeAll(value);
    walked.add(value);
  }
  return safe;
}

/** Shares a part of an event's loaders: an object with methods may be or hold a loader, and changes its own state. */
function sharePart(value: unknown): unknown {
  const safe = replacementOf(value);
  if (safe !== value || !isObject(value)) return safe;
  return !isSafe(value) && hasMethods(value) ? viewOf(value) : share(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The replacement of a value; the value itself, if it can be frozen or is safe already. */
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
  // A resolver may ignore the promise.
  safe.catch(() => undefined);
  made.add(safe);
  return safe;
}

/** Uses its own list instead of the call stack, as objects may be nested to any depth. */
function freezeAll(root: object): void {
  const found: object[] = [];
  try {
    freezeFrom(root, found);
  } catch (error) {
    // Otherwise the next reader would get unsafe objects as safe ones.
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
      // Frozen here, or earlier by the graph: then its contents are not necessarily frozen. Walked once more at most.
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
