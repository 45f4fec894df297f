import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * A value that many connections share is looked up often, and stays; it is of no use to keep more values of single
 * connections.
 */
const MAX_KNOWN = 512;

/** Returns one object for equal values, as long as the object is in use and among the MAX_KNOWN looked up last. */
export class Interned<Value extends object> {
  /** By a hash of the JSON text: the text itself may contain a token, and must not outlive its connection. */
  readonly #known = new LRUCache<string, WeakRef<Value>>({ max: MAX_KNOWN });

  /** @param value deep-frozen JSON; values are equal if their JSON texts are */
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
