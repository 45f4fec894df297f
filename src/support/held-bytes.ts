import type { ByteSource, Reservation } from './byte-budget.ts';

/**
 * Bytes of one source that many holders hold together, without a time limit, such as the messages of throttles. When
 * there is no room, the holder that has held bytes for longest has to let go, then the next one.
 */
export class HeldBytes<Holder extends object> {
  readonly #letGo: (holder: Holder) => void;
  readonly #reserved: Reservation;
  /** Bytes by holder, in the order in which the holders began to hold bytes. */
  readonly #held = new Map<Holder, number>();
  #total = 0;

  /** @param letGo makes a holder give back all its bytes within the call */
  constructor(source: ByteSource, letGo: (holder: Holder) => void) {
    this.#letGo = letGo;
    this.#reserved = source.empty(this);
  }

  /** Bytes of all holders together. */
  get total(): number {
    return this.#total;
  }

  /** @param bytes negative if the holder has given bytes back */
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

  /** Makes one holder after the other let go until the rest fits. */
  limit(): void {
    for (const holder of this.#held.keys()) {
      if (this.#reserved.resize(this.#total)) return;
      this.#letGo(holder);
    }
  }
}
