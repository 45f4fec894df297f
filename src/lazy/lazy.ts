import { LATER, lazyObject } from './lazy-object.ts';

/** For what the Babel plugin writes into compiled files; `sluice/lazy` is this module. */
export { LATER, lazyObject, propertyKey } from './lazy-object.ts';

declare global {
  interface ProxyConstructor {
    /**
     * An object literal whose values are built when they are first read, and kept. Exists only in code that is compiled
     * with the Babel plugin `sluice/babel-plugin`; elsewhere, use `lazy` from `sluice`.
     *
     * @param literal an object literal, not any other expression
     */
    lazy<T extends object>(literal: T): T;
  }
}

/**
 * `Proxy.lazy` without Babel: an object with the keys of `builders`, whose values are built when they are first read, and
 * kept. What a builder throws goes to the reader; the next read calls it again.
 *
 * @example const loaders = lazy({ seller: () => new DataLoader(readSellers) });
 */
export function lazy<T extends object>(builders: { readonly [K in keyof T]: () => T[K] }): T {
  const target: Record<PropertyKey, unknown> = { ...builders };
  const keys = Reflect.ownKeys(target);
  for (const key of keys) {
    if (typeof target[key] !== 'function') {
      throw new TypeError(`Expected a function that builds ${String(key)}, got ${typeof target[key]}`);
    }
    target[key] = LATER;
  }
  const known = builders as Readonly<Record<PropertyKey, () => unknown>>;
  return lazyObject(target, (key) => known[key]?.(), keys.length) as T;
}
