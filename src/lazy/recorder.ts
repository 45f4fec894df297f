import { types } from 'node:util';
import type { Json, ReadSet } from './reads.ts';

/** Asks an object whether it records what is read of it. */
const RECORDS = Symbol('records');

export type Recordable = { readonly [key: string]: Json } | readonly Json[];

/**
 * A viewer that records in `reads` every read of it, including reads of absent values.
 *
 * It is a proxy over an empty shadow object instead of the frozen viewer: a proxy must return the properties of a frozen
 * target as they are, so it could not return recorders for the objects within.
 *
 * @param viewer deep-frozen
 * @param reads grows with each read
 */
export function recording(viewer: Recordable, reads: ReadSet): object {
  return recorderOf(viewer, [], reads);
}

/** Whether an object is a recorded viewer, or one of the objects within. */
export function isRecorder(value: object): boolean {
  return types.isProxy(value) && Reflect.get(value, RECORDS) === true;
}

function recorderOf(value: Recordable, path: readonly string[], reads: ReadSet): object {
  const shadow = Array.isArray(value) ? [] : {};
  return new Proxy(shadow, new Recorder(value, path, reads));
}

class Recorder implements ProxyHandler<object> {
  readonly #value: Recordable;
  readonly #path: readonly string[];
  readonly #reads: ReadSet;
  /** Recorders of the objects within by key, so that each read of a key returns the same one. */
  #within: Map<string, object> | undefined;

  constructor(value: Recordable, path: readonly string[], reads: ReadSet) {
    this.#value = value;
    this.#path = path;
    this.#reads = reads;
  }

  get(shadow: object, key: PropertyKey, receiver: unknown): unknown {
    if (key === RECORDS) return true;
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
      // Not configurable on any array, so a proxy has to report it like this.
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

  /** @returns undefined if the value is absent; JSON has no undefined of its own */
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

  /** Methods that arrays inherit are equal for all viewers, so reading one is not recorded. */
  #isMethod(shadow: object, key: PropertyKey): boolean {
    return Array.isArray(shadow) && key !== 'length' && key in Array.prototype;
  }

  #neverChanges(key: PropertyKey): TypeError {
    const place = [...this.#path, String(key)].join('.');
    return new TypeError(`the viewer never changes: expected viewer.${place} to be read only, got a write`);
  }
}
