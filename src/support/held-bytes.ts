import type { ByteSource, Reservation } from './byte-budget.ts';

/** One that holds bytes, as the bound on all of them sees it. */
interface Holder {
  /** Has it hold no more. */
  flush(): void;
}

/**
 * What many hold together of one source, each for as long as it likes: the messages of throttles, say. Where there is no
 * room, the one that has held for longest is flushed, then the next.
 */
export class HeldBytes {
  readonly #reserved: Reservation;
  /** In the order in which they have begun to hold. */
  readonly #held = new Map<Holder, number>();
  #total = 0;

  constructor(source: ByteSource) {
    this.#reserved = source.empty(this);
  }

  /** Bytes that all hold together. */
  get total(): number {
    return this.#total;
  }

  /** @param bytes negative for what is not held any more */
  grow(holder: Holder, bytes: number): void {
    this.set(holder, (this.#held.get(holder) ?? 0) + bytes);
  }

  /** @param bytes that the holder holds now */
  set(holder: Holder, bytes: number): void {
    this.#total += bytes - (this.#held.get(holder) ?? 0);
    if (bytes === 0) this.#held.delete(holder);
    else this.#held.set(holder, bytes);
    if (this.#total < this.#reserved.bytes) this.#reserved.resize(this.#total);
  }

  /** Flushes until what is held fits. */
  limit(): void {
    for (const holder of this.#held.keys()) {
      if (this.#reserved.resize(this.#total)) return;
      holder.flush();
    }
  }
}
