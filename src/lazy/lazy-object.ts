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

/** What a key holds until its value is built. No trap lets it out. */
export const LATER: unique symbol = Symbol('later');

type Target = Record<PropertyKey, unknown>;
type Key = string | symbol;

/** Values that are being built, by any lazy object, outermost first: builders are synchronous. */
const building: { readonly lazy: Lazy; readonly key: Key }[] = [];

/**
 * What `Proxy.lazy({…})` compiles to.
 *
 * @param target LATER under every key that `build` knows; methods, accessors and the prototype are left as they are
 * @param build what it throws goes to the reader, and the next read calls it again
 * @param keys number of keys that hold LATER. May be too high; then `build` is held on to after the last one is built
 */
export function lazyObject<T extends object>(target: T, build: (key: Key) => unknown, keys: number): T {
  const lazy = new Lazy(build, keys);
  const proxy = new Proxy(target as Target, lazy);
  lazy.proxy = proxy;
  return proxy as T;
}

/** A computed key as JavaScript converts it, once: an object's `toString` may answer differently the next time. */
export function propertyKey(value: unknown): Key {
  const [key = ''] = Reflect.ownKeys({ [value as string]: undefined });
  return key;
}

class Lazy implements ProxyHandler<Target> {
  proxy: unknown;
  #build: ((key: Key) => unknown) | undefined;
  #keys: number;

  constructor(build: (key: Key) => unknown, keys: number) {
    this.#build = build;
    this.#keys = keys;
  }

  get(target: Target, key: Key, receiver: unknown): unknown {
    const value: unknown = Reflect.get(target, key, receiver);
    return value === LATER ? this.#buildValue(target, key) : value;
  }

  set(target: Target, key: Key, value: unknown, receiver: unknown): boolean {
    // The ordinary way asks the receiver to describe the key, and an accessor would be the answer.
    if (receiver !== this.proxy || !isLater(target, key)) return Reflect.set(target, key, value, receiver);
    target[key] = value;
    return true;
  }

  /**
   * Object.keys and spread ask for the description of each key to learn whether it is enumerable, so this may not build.
   * A description holds its value, though. So a key that is not built is described as an accessor: whoever copies
   * properties by their descriptions gets one that builds.
   */
  getOwnPropertyDescriptor(target: Target, key: Key): PropertyDescriptor | undefined {
    const found = Reflect.getOwnPropertyDescriptor(target, key);
    if (found?.value !== LATER) return found;
    return {
      get: () => this.get(target, key, this.proxy),
      set(this: unknown, value: unknown) {
        Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
      },
      enumerable: found.enumerable === true,
      configurable: true,
    };
  }

  /** What only changes how a key behaves needs its value: it might be frozen by this. */
  defineProperty(target: Target, key: Key, change: PropertyDescriptor): boolean {
    const keepsValue = !('value' in change || 'get' in change || 'set' in change);
    if (keepsValue && isLater(target, key)) this.#buildValue(target, key);
    return Reflect.defineProperty(target, key, change);
  }

  /** Object.freeze and seal begin with this. What is frozen can't be built any more, so everything is built before. */
  preventExtensions(target: Target): boolean {
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
      // The builder itself may have set or deleted the key: that counts.
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

/** Without running an accessor of the target. */
function isLater(target: Target, key: Key): boolean {
  return Reflect.getOwnPropertyDescriptor(target, key)?.value === LATER;
}
