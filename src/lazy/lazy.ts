import { LATER, lazyObject } from './lazy-object.ts';

/** Imported by the code that the Babel plugin generates; `sluice/lazy` is this module. */
export { LATER, lazyObject, propertyKey } from './lazy-object.ts';

declare global {
  interface ProxyConstructor {
    /**
     * An object that builds its values when they are first read, and keeps them. Exists only in code that is compiled with
     * the Babel plugin `sluice/babel-plugin`; elsewhere, use `lazy` from `sluice`. If building a value throws, the reader
     * gets the error, and the next read tries again.
     *
     * @param literal an object literal; any other expression is a compile error
     */
    lazy<T extends object>(literal: T): T;
  }
}

/**
 * `Proxy.lazy` without Babel: an object with the keys of `builders`. It builds each value when it is first read, and keeps
 * it. If a builder throws, the reader gets the error, and the next read calls it again.
 *
 * @param builders for each key a function that builds its value
 * @throws TypeError if one of them is not a function
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
