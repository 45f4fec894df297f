/**
 * Objects whose values are built when they are first read: what `Proxy.lazy({…})` compiles to, and `lazy({…})` for code
 * that is not compiled by the plugin.
 *
 *     target   { seller: LATER, agent: DataLoader, … }   every key is there, in order
 *     builder  key ──► value                              one function for all keys
 *     proxy    reads the target; where it finds LATER it builds, keeps and returns
 *
 * Making one takes these objects and a handler, however many keys there are.
 */

/** Stands under each key until it is first read. Nobody gets to see it. */
export const LATER = Symbol('later');

/** Builds the value of one key. May throw: then whoever reads gets the error, and the next read tries again. */
type Builder = (key: PropertyKey) => unknown;

declare global {
  interface ProxyConstructor {
    /**
     * An object literal whose values are built when first read, and kept. Needs the Babel plugin `sluice/babel-plugin`;
     * without Babel, `lazy` from `sluice` does the same.
     */
    lazy<T extends object>(literal: T): T;
  }
}

/**
 * What the plugin makes of `Proxy.lazy({…})`.
 *
 * @param target holds LATER under each key whose value `build` knows, and what is not lazy as it is
 */
export function lazyObject<T extends object>(target: T, build: Builder): T {
  const handler = new LazyHandler(build);
  const proxy = new Proxy<object>(target, handler) as T;
  handler.proxy = proxy;
  return proxy;
}

/**
 * `Proxy.lazy` without Babel: each value is a function that makes it.
 *
 * @example const loaders = lazy({ seller: () => new DataLoader(…) }); loaders.seller.load(1)
 */
export function lazy<T extends object>(makers: { readonly [Key in keyof T]: () => T[Key] }): T {
  const target = {};
  for (const key of Reflect.ownKeys(makers)) put(target, key, LATER);
  return lazyObject(target, (key) => (makers as Readonly<Record<PropertyKey, () => unknown>>)[key]?.()) as T;
}

/** A computed key as the property key that it stands for. Used by the plugin's output. */
export function propertyKey(value: unknown): PropertyKey {
  return typeof value === 'symbol' ? value : String(value);
}

class LazyHandler implements ProxyHandler<object> {
  readonly #build: Builder;
  /** Keys whose values are being built now, outermost first. */
  #building: PropertyKey[] | undefined;
  proxy: object | undefined;

  constructor(build: Builder) {
    this.#build = build;
  }

  get(target: object, key: PropertyKey, receiver: unknown): unknown {
    const value: unknown = Reflect.get(target, key, receiver);
    return value === LATER ? this.#make(target, key) : value;
  }

  set(target: object, key: PropertyKey, value: unknown, receiver: unknown): boolean {
    if (receiver !== this.proxy || !isLater(target, key)) return Reflect.set(target, key, value, receiver);
    return put(target, key, value);
  }

  /** Keys can be enumerated without building: what is not built yet looks like a getter. */
  getOwnPropertyDescriptor(target: object, key: PropertyKey): PropertyDescriptor | undefined {
    if (!isLater(target, key)) return Reflect.getOwnPropertyDescriptor(target, key);
    const read = (): unknown => this.get(target, key, this.proxy);
    const write = (value: unknown): void => void this.set(target, key, value, this.proxy);
    return { get: read, set: write, enumerable: true, configurable: true };
  }

  /** A property that is redefined in part keeps its value, so it has to have one. */
  defineProperty(target: object, key: PropertyKey, descriptor: PropertyDescriptor): boolean {
    const replaced = 'value' in descriptor || 'get' in descriptor || 'set' in descriptor;
    if (!replaced && isLater(target, key)) this.#make(target, key);
    return Reflect.defineProperty(target, key, descriptor);
  }

  /** What is frozen can't be built any more, so all of it is built first. */
  preventExtensions(target: object): boolean {
    for (const key of Reflect.ownKeys(target)) if (isLater(target, key)) this.#make(target, key);
    return Reflect.preventExtensions(target);
  }

  #make(target: object, key: PropertyKey): unknown {
    const building = (this.#building ??= []);
    if (building.includes(key)) {
      const chain = [...building.slice(building.indexOf(key)), key].map(String).join(' → ');
      throw new ReferenceError(`a lazy value needs itself: ${chain}`);
    }
    building.push(key);
    try {
      const value = this.#build.call(undefined, key);
      if (!isLater(target, key)) return Reflect.get(target, key); // The builder itself has set it.
      put(target, key, value);
      return value;
    } finally {
      building.pop();
    }
  }
}

function isLater(target: object, key: PropertyKey): boolean {
  return Reflect.getOwnPropertyDescriptor(target, key)?.value === LATER;
}

/** Defines, since assigning to `__proto__` would do something else. */
function put(target: object, key: PropertyKey, value: unknown): boolean {
  return Reflect.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
