import { types } from 'node:util';

/**
 * Objects whose values are built when they are first read. Each is a proxy over a target that has every key from the
 * start:
 *
 *     target   { seller: DataLoader, agent: LATER, … }   LATER until read; keys in order
 *     builder  key → value                               one function for all keys
 *     proxy    reads the target, builds what is LATER, keeps it
 *
 * So making one allocates the target, a builder, a handler and the proxy, however many keys there are.
 */

/** The target's value for a key until the real value is built. No trap returns it to a reader. */
export const LATER: unique symbol = Symbol('later');

/** Asks a proxy for its Lazy. */
const HANDLER = Symbol('handler');

type Target = Record<PropertyKey, unknown>;
type Key = string | symbol;

/** Values that are being built, by any lazy object, outermost first: builders are synchronous. */
const building: { readonly lazy: Lazy; readonly key: Key }[] = [];

/**
 * What `Proxy.lazy({…})` compiles to.
 *
 * @param target holds LATER under each key that `build` can build; methods, accessors and the prototype stay as they
 *   are
 * @param build returns the value of a key; if it throws, the reader gets the error, and the next read calls it again
 * @param keys number of keys that hold LATER. May be too high; `build` is then kept after the last value is built
 */
export function lazyObject<T extends object>(target: T, build: (key: Key) => unknown, keys: number): T {
  const lazy = new Lazy(build, keys);
  const proxy = new Proxy(target as Target, lazy);
  lazy.proxy = proxy;
  return proxy as T;
}

/**
 * Makes a lazy object safe to share: it becomes read-only, and each of its values passes through `share`, or does so when
 * it is built.
 *
 * @returns false if it is no lazy object
 */
export function shareLazy(object: object, share: (value: unknown) => unknown): boolean {
  if (!types.isProxy(object)) return false;
  const lazy: unknown = Reflect.get(object, HANDLER);
  if (!(lazy instanceof Lazy)) return false;
  lazy.share(share);
  return true;
}

/**
 * A computed key as JavaScript converts it. Called once a key, as an object's `toString` may return another text
 * later.
 */
export function propertyKey(value: unknown): Key {
  const [key = ''] = Reflect.ownKeys({ [value as string]: undefined });
  return key;
}

class Lazy implements ProxyHandler<Target> {
  proxy: unknown;
  #build: ((key: Key) => unknown) | undefined;
  #keys: number;
  #share: ((value: unknown) => unknown) | undefined;

  constructor(build: (key: Key) => unknown, keys: number) {
    this.#build = build;
    this.#keys = keys;
  }

  share(share: (value: unknown) => unknown): void {
    this.#share = share;
  }

  get(target: Target, key: Key, receiver: unknown): unknown {
    if (key === HANDLER) return this;
    const value: unknown = Reflect.get(target, key, receiver);
    const built = value === LATER ? this.#buildValue(target, key) : value;
    return this.#share === undefined ? built : this.#share(built);
  }

  set(target: Target, key: Key, value: unknown, receiver: unknown): boolean {
    if (this.#share !== undefined) return false;
    // Reflect.set would call getOwnPropertyDescriptor on the receiver, which describes the key as an accessor.
    if (receiver !== this.proxy || !isLater(target, key)) return Reflect.set(target, key, value, receiver);
    target[key] = value;
    return true;
  }

  /**
   * Object.keys and spread read the descriptor of each key to learn whether it is enumerable, so this must not build
   * the value, which a data descriptor would contain. A key that is not built is described as an accessor instead:
   * code that copies properties by their descriptors gets an accessor that builds the value.
   */
  getOwnPropertyDescriptor(target: Target, key: Key): PropertyDescriptor | undefined {
    const found = Reflect.getOwnPropertyDescriptor(target, key);
    if (found?.configurable !== true || (found.value !== LATER && this.#share === undefined)) return found;
    return {
      get: () => this.get(target, key, this.proxy),
      set(this: unknown, value: unknown) {
        Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
      },
      enumerable: found.enumerable === true,
      configurable: true,
    };
  }

  /** A change of attributes only (`writable: false`, say) needs the value first, as it can't be built afterwards. */
  defineProperty(target: Target, key: Key, change: PropertyDescriptor): boolean {
    if (this.#share !== undefined) return false;
    const keepsValue = !('value' in change || 'get' in change || 'set' in change);
    if (keepsValue && isLater(target, key)) this.#buildValue(target, key);
    return Reflect.defineProperty(target, key, change);
  }

  deleteProperty(target: Target, key: Key): boolean {
    return this.#share === undefined && Reflect.deleteProperty(target, key);
  }

  /** Object.freeze and seal begin with this. Values of a frozen object can't be built, so all are built first. */
  preventExtensions(target: Target): boolean {
    if (this.#share !== undefined) return false;
    for (const key of Reflect.ownKeys(target)) if (isLater(target, key)) this.#buildValue(target, key);
    return Reflect.preventExtensions(target);
  }

  #buildValue(target: Target, key: Key): unknown {
    const first = building.findIndex((outer) => outer.lazy === this && outer.key === key);
    if (first !== -1) {
      const chain = [...building.slice(first).map((outer) => outer.key), key].map(String).join(' → ');
      throw new ReferenceError(
        `Expected lazy values that can be built one after another, got a circle: ${chain}`,
      );
    }
    building.push({ lazy: this, key });
    try {
      const value = this.#build?.(key);
      // If the builder itself has set or deleted the key, that takes precedence.
      if (isLater(target, key)) {
        target[key] = value;
        this.#keys -= 1;
        if (this.#keys === 0) this.#build = undefined;
      }
      return value;
    } finally {
      building.pop();
    }
  }
}

/** Whether the key's value is still to be built. Does not call accessors of the target. */
function isLater(target: Target, key: Key): boolean {
  return Reflect.getOwnPropertyDescriptor(target, key)?.value === LATER;
}
