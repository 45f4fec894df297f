/** A throttle, as the bound on all of them sees it. */
interface Holder {
  /** Has all executed that it holds. */
  flush(): void;
}

/** Most bytes that the throttles of a pod hold together. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * What the throttles of a pod hold together: messages, and what is noted of them. Beyond the bound the interval of the
 * throttle that has held for longest ends early, then that of the next one.
 */
export class HeldBytes {
  readonly #maxBytes: number;
  /** In the order in which they have begun to hold. */
  readonly #held = new Map<Holder, number>();
  #total = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Of all throttles. */
  get total(): number {
    return this.#total;
  }

  /** @param bytes negative for what is not held any more */
  grow(holder: Holder, bytes: number): void {
    this.#total += bytes;
    const held = (this.#held.get(holder) ?? 0) + bytes;
    if (held === 0) this.#held.delete(holder);
    else this.#held.set(holder, held);
  }

  /** Brings the total below the bound. */
  limit(): void {
    for (const holder of this.#held.keys()) {
      if (this.#total <= this.#maxBytes) return;
      holder.flush();
    }
  }
}
