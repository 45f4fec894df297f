import type { Outbox, OutboxServices } from './outbox.ts';
import { Runs } from './run.ts';

/** Gathers what becomes ready in one turn of the event loop, and writes it at the turn's end: one write a socket. */
export class Flusher implements OutboxServices {
  readonly runs = new Runs();
  #outboxes: Outbox[] = [];
  #consumedAt: number[] = [];
  readonly #now: () => number;
  readonly #observeDelay: (seconds: number) => void;

  /** @param now ms, the clock that stamps events as consumed */
  constructor(now: () => number, observeDelay: (seconds: number) => void) {
    this.#now = now;
    this.#observeDelay = observeDelay;
  }

  enlist(outbox: Outbox): void {
    if (this.#outboxes.push(outbox) === 1) setImmediate(() => this.#flush());
  }

  /** Notes that results of an event that was consumed then (ms) leave with this turn's flush. */
  timed(consumedAt: number): void {
    if (this.#outboxes.length > 0) this.#consumedAt.push(consumedAt);
  }

  #flush(): void {
    const outboxes = this.#outboxes;
    const consumedAt = this.#consumedAt;
    this.#outboxes = [];
    this.#consumedAt = [];
    for (const outbox of outboxes) outbox.flush();
    this.runs.clear();
    const now = this.#now();
    for (const then of consumedAt) this.#observeDelay(Math.max(0, now - then) / 1000);
  }
}
