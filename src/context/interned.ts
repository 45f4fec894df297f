import { createHash } from 'node:crypto';

/** Values that many have are among the last ones; for those that one alone has, a table of all would only cost. */
const MAX_KNOWN = 512;

/** One object for all who have equal ones lately. */
export class Interned<Value extends object> {
  /** By what the JSON text comes to: the text itself may hold a token, and must not outlive its owner. */
  readonly #known = new Map<string, WeakRef<Value>>();

  /** @param value deep-frozen JSON; equal are those whose text is the same */
  of(value: Value): Value {
    const key = createHash('sha256').update(JSON.stringify(value)).digest('base64');
    const ref = this.#known.get(key);
    const known = ref?.deref();
    // The last to leave is the one used last.
    this.#known.delete(key);
    this.#known.set(key, ref !== undefined && known !== undefined ? ref : new WeakRef(value));
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return known ?? value;
  }

  get size(): number {
    return this.#known.size;
  }
}
