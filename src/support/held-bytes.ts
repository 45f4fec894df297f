import type { ByteSource, Reservation } from './byte-budget.ts';

/**
 * What many hold together of one source, each for as long as it likes: the messages of throttles, say. Where there is no
 * room, the one that has held for longest is told to let go, then the next.
 */
export class HeldBytes<Holder extends object> {
  readonly #letGo: (holder: Holder) => void;
  readonly #reserved: Reservation;
  /** In the order in which they have begun to hold. */
  readonly #held = new Map<Holder, number>();
  #total = 0;

  /** @param letGo has a holder hold no more, in this call */
  constructor(source: ByteSource, letGo: (holder: Holder) => void) {
    this.#letGo = letGo;
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

  /**
   * @param bytes that the holder holds now
   * @returns whether that is more than before
   */
  set(holder: Holder, bytes: number): boolean {
    const before = this.#held.get(holder) ?? 0;
    if (bytes === before) return false;
    this.#total += bytes - before;
    if (bytes === 0) this.#held.delete(holder);
    else this.#held.set(holder, bytes);
    if (this.#total < this.#reserved.bytes) this.#reserved.resize(this.#total);
    return bytes > before;
  }

  /** Has as many let go as it takes until the rest fits. */
  limit(): void {
    for (const holder of this.#held.keys()) {
      if (this.#reserved.resize(this.#total)) return;
      this.#letGo(holder);
    }
  }
}
