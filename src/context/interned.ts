import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Values that many connections share are among the last ones; for values of one connection each, a table would only cost. */
const MAX_KNOWN = 512;

/** Gives one object for equal values, as long as it is in use and among those asked for last. */
export class Interned<Value extends object> {
  /** By a hash of the JSON text: the text itself may hold a token, and must not outlive its owner. */
  readonly #known = new LRUCache<string, WeakRef<Value>>({ max: MAX_KNOWN });

  /** @param value deep-frozen JSON; equal are values of the same text */
  of(value: Value): Value {
    const key = createHash('sha256').update(JSON.stringify(value)).digest('base64');
    const known = this.#known.get(key)?.deref();
    if (known !== undefined) return known;
    this.#known.set(key, new WeakRef(value));
    return value;
  }

  get size(): number {
    return this.#known.size;
  }
}
