/** Before another: negative; behind it: positive. */
export type Order<Key> = (one: Key, other: Key) => number;

interface Entry<T, Key> {
  readonly item: T;
  readonly key: Key;
}

/**
 * The first few of many in an order, by keys that are given once: those of living things may change meanwhile. Holds
 * twice of what is asked for at most.
 */
export class Top<T, Key> {
  readonly #count: number;
  readonly #order: (one: Entry<T, Key>, other: Entry<T, Key>) => number;
  #kept: Entry<T, Key>[] = [];
  /** The last that is among the first so far; undefined: there are fewer. */
  #last: Entry<T, Key> | undefined;

  constructor(count: number, order: Order<Key>) {
    this.#count = count;
    this.#order = (one, other) => order(one.key, other.key);
  }

  add(item: T, key: Key): void {
    const entry = { item, key };
    if (this.#last !== undefined && this.#order(entry, this.#last) >= 0) return;
    if (this.#kept.push(entry) >= 2 * this.#count) this.#cut();
  }

  /** In order; those with equal keys as they were added. */
  get items(): T[] {
    this.#cut();
    return this.#kept.map(({ item }) => item);
  }

  #cut(): void {
    this.#kept = this.#kept.toSorted(this.#order).slice(0, this.#count);
    if (this.#kept.length === this.#count) this.#last = this.#kept.at(-1);
  }
}
