import type { WorkBudget } from '../../hub/work-budget.ts';
import type { Outbox, OutboxServices } from './send-queue.ts';
import { Runs } from './frame-batch.ts';

/** Sockets written to in one turn, some 7 ms; the others follow in the next, after what else wants the loop. */
const SOCKETS_PER_TURN = 1_024;

/** Likewise for bytes, where results are large. */
const BYTES_PER_TURN = 16 * 1024 * 1024;

/**
 * Outboxes that something was put into in one turn, or whose sockets have drained in it; of more turns, if the last
 * one's were still being written.
 */
class Batch {
  readonly outboxes: Outbox[] = [];
  readonly consumedAt: number[] = [];
  /** Where the first is that has not been flushed. */
  next = 0;
}

/**
 * Gathers what becomes ready in one turn of the event loop, and writes it at the turn's end: one write a socket.
 *
 *     turn     1        2        3         4
 *     gather   a b c    d        e f
 *     write    a b      c        d e f
 */
export class Flusher implements OutboxServices, WorkBudget {
  readonly runs = new Runs();
  spent = 0;
  #gathered = new Batch();
  #written: Batch | undefined;
  #scheduled = false;
  readonly #now: () => number;
  readonly #observeDelay: (seconds: number) => void;

  /** @param now ms, the clock that stamps events as consumed */
  constructor(now: () => number, observeDelay: (seconds: number) => void) {
    this.#now = now;
    this.#observeDelay = observeDelay;
  }

  enlist(outbox: Outbox): void {
    this.#gathered.outboxes.push(outbox);
    this.#schedule();
  }

  /** Notes that results of an event that was consumed then (ms) leave with this turn's flush. */
  timed(consumedAt: number): void {
    if (this.#gathered.outboxes.length > 0) this.#gathered.consumedAt.push(consumedAt);
  }

  spend(units: number): void {
    this.spent += units;
  }

  renew(): void {
    this.spent = 0;
  }

  get writing(): boolean {
    return this.#written !== undefined;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#written ?? this.#gathered;
    if (batch === this.#gathered) this.#gathered = new Batch();
    this.#written = batch;
    try {
      this.#write(batch);
    } finally {
      // A socket that throws is not asked again, and the others get theirs.
      if (batch.next === batch.outboxes.length) this.#finish(batch);
      if (this.#written !== undefined || this.#gathered.outboxes.length > 0) this.#schedule();
    }
  }

  #write(batch: Batch): void {
    const { outboxes } = batch;
    const end = Math.min(outboxes.length, batch.next + SOCKETS_PER_TURN);
    let bytes = 0;
    while (batch.next < end && bytes < BYTES_PER_TURN) {
      const outbox = outboxes[batch.next];
      batch.next += 1;
      bytes += outbox?.flush() ?? 0;
    }
  }

  #finish({ consumedAt }: Batch): void {
    this.#written = undefined;
    this.runs.clear();
    const now = this.#now();
    for (const then of consumedAt) this.#observeDelay(Math.max(0, now - then) / 1000);
  }
}
