/** @returns negative if `one` comes before `other`; positive if `one` comes behind `other` */
export type Order<Key> = (one: Key, other: Key) => number;

interface Entry<T, Key> {
  readonly item: T;
  readonly key: Key;
}

/**
 * Finds the first few of many items in an order. The caller gives each key once, as keys of live items may change
 * meanwhile. Holds at most twice as many items as asked for.
 */
export class Top<T, Key> {
  readonly #count: number;
  readonly #order: (one: Entry<T, Key>, other: Entry<T, Key>) => number;
  #kept: Entry<T, Key>[] = [];
  /** An item that does not come before this one is not kept. Undefined until a cut has left `#count` items. */
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

  /** The first items in order; items with equal keys stay in the order in which they were added. */
  get items(): T[] {
    this.#cut();
    return this.#kept.map(({ item }) => item);
  }

  #cut(): void {
    this.#kept = this.#kept.toSorted(this.#order).slice(0, this.#count);
    if (this.#kept.length === this.#count) this.#last = this.#kept.at(-1);
  }
}
