import type { Json, ReadSet } from './reads.ts';

export type Recordable = { readonly [key: string]: Json } | readonly Json[];

/**
 * A viewer that notes in `reads` whatever is read of it, absence included.
 *
 * It is a proxy over an empty shadow, not over the frozen viewer: a proxy must report the properties of a frozen
 * target as they are, and could not hand out recorders for the objects within.
 */
export function recording(viewer: Recordable, reads: ReadSet): object {
  return recorderOf(viewer, [], reads);
}

function recorderOf(value: Recordable, path: readonly string[], reads: ReadSet): object {
  const shadow = Array.isArray(value) ? [] : {};
  return new Proxy(shadow, new Recorder(value, path, reads));
}

class Recorder implements ProxyHandler<object> {
  readonly #value: Recordable;
  readonly #path: readonly string[];
  readonly #reads: ReadSet;
  /** Recorders of the objects within, so that the same one is read each time. */
  #within: Map<string, object> | undefined;

  constructor(value: Recordable, path: readonly string[], reads: ReadSet) {
    this.#value = value;
    this.#path = path;
    this.#reads = reads;
  }

  get(shadow: object, key: PropertyKey, receiver: unknown): unknown {
    if (typeof key === 'symbol' || this.#isMethod(shadow, key)) return Reflect.get(shadow, key, receiver);
    const read = this.#read(String(key));
    return read === undefined ? Reflect.get(shadow, key, receiver) : read;
  }

  has(shadow: object, key: PropertyKey): boolean {
    if (typeof key === 'symbol') return Reflect.has(shadow, key);
    this.#reads.add('presence', [...this.#path, String(key)]);
    return Object.hasOwn(this.#value, key) || Reflect.has(shadow, key);
  }

  ownKeys(): string[] {
    this.#reads.add('whole', this.#path);
    return Reflect.ownKeys(this.#value) as string[];
  }

  getOwnPropertyDescriptor(shadow: object, key: PropertyKey): PropertyDescriptor | undefined {
    if (typeof key === 'symbol') return undefined;
    const value = this.#read(String(key));
    if (Array.isArray(shadow) && key === 'length') {
      // Not configurable on any array, so a proxy must say the same.
      return { value, writable: true, enumerable: false, configurable: false };
    }
    return value === undefined ? undefined : { value, writable: false, enumerable: true, configurable: true };
  }

  set(_shadow: object, key: PropertyKey): never {
    throw this.#neverChanges(key);
  }

  defineProperty(_shadow: object, key: PropertyKey): never {
    throw this.#neverChanges(key);
  }

  deleteProperty(_shadow: object, key: PropertyKey): never {
    throw this.#neverChanges(key);
  }

  setPrototypeOf(): never {
    throw this.#neverChanges('__proto__');
  }

  preventExtensions(): never {
    throw new TypeError('the viewer is frozen already, and records what is read of it: it cannot be frozen');
  }

  /** @returns undefined if there is nothing; JSON has no other undefined */
  #read(key: string): unknown {
    const path = [...this.#path, key];
    this.#reads.add('value', path);
    if (!Object.hasOwn(this.#value, key)) return undefined;
    const value = (this.#value as { readonly [key: string]: Json })[key];
    if (typeof value !== 'object' || value === null) return value;
    this.#within ??= new Map();
    const known = this.#within.get(key);
    if (known !== undefined) return known;
    const recorder = recorderOf(value, path, this.#reads);
    this.#within.set(key, recorder);
    return recorder;
  }

  /** What arrays inherit is the same for all of them, and an array of JSON has no such key of its own. */
  #isMethod(shadow: object, key: PropertyKey): boolean {
    return Array.isArray(shadow) && key !== 'length' && key in Array.prototype;
  }

  #neverChanges(key: PropertyKey): TypeError {
    const place = [...this.#path, String(key)].join('.');
    return new TypeError(`the viewer never changes: expected viewer.${place} to be read only, got a write`);
  }
}
