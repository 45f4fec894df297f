import type { Timers } from '../../../src/support/clock.ts';

interface Due {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock and timers that stand still until they are advanced. */
export class HeldTime implements Timers {
  #now = Date.UTC(2026, 6, 1);
  readonly #due = new Set<Due>();

  /** ms since 1970 */
  readonly now = (): number => this.#now;

  /** Timers that have neither called back nor been prevented. */
  get pending(): number {
    return this.#due.size;
  }

  after(ms: number, callback: () => void): () => void {
    const due = { at: this.#now + ms, callback };
    this.#due.add(due);
    return () => this.#due.delete(due);
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (const due of [...this.#due].toSorted((one, other) => one.at - other.at)) {
      if (due.at > until || !this.#due.delete(due)) continue;
      this.#now = due.at;
      due.callback();
    }
    this.#now = until;
  }
}
