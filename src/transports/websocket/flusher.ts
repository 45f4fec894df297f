import type { WorkBudget } from '../../hub/work-budget.ts';
import { FrameBatchCache } from './frame-batch.ts';
import type { SendQueue, SendQueueServices } from './send-queue.ts';

/** Sockets written to in one turn, some 7 ms; the others follow in the next, after other work of the event loop. */
const SOCKETS_PER_TURN = 1_024;

/** Likewise for bytes, where results are large. */
const BYTES_PER_TURN = 16 * 1024 * 1024;

/**
 * The send queues to be flushed together: those that got something in one turn, or whose sockets have drained in it; of
 * several turns, if an earlier batch was still being written meanwhile.
 */
class FlushBatch {
  readonly sendQueues: SendQueue[] = [];
  /** When the events were consumed whose results are in it, ms. */
  readonly consumedAt: number[] = [];
  /** Index of the first queue that has not been flushed. */
  next = 0;
}

/**
 * Gathers what becomes ready in one turn of the event loop, and writes it at the turn's end: one write a socket.
 *
 *     turn     1        2        3         4
 *     gather   a b c    d        e f
 *     write    a b      c        d e f
 */
export class Flusher implements SendQueueServices, WorkBudget {
  readonly frameBatches = new FrameBatchCache();
  spent = 0;
  #gathering = new FlushBatch();
  #flushing: FlushBatch | undefined;
  #scheduled = false;
  readonly #now: () => number;
  readonly #observeDelay: (seconds: number) => void;

  /**
   * @param now ms, the clock that stamps events as consumed
   * @param observeDelay told of each event how long it took from consumed to written
   */
  constructor(now: () => number, observeDelay: (seconds: number) => void) {
    this.#now = now;
    this.#observeDelay = observeDelay;
  }

  enlist(sendQueue: SendQueue): void {
    this.#gathering.sendQueues.push(sendQueue);
    this.#schedule();
  }

  timed(consumedAt: number): void {
    if (this.#gathering.sendQueues.length > 0) this.#gathering.consumedAt.push(consumedAt);
  }

  spend(units: number): void {
    this.spent += units;
  }

  renew(): void {
    this.spent = 0;
  }

  get writing(): boolean {
    return this.#flushing !== undefined;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#flushing ?? this.#gathering;
    if (batch === this.#gathering) this.#gathering = new FlushBatch();
    this.#flushing = batch;
    try {
      this.#write(batch);
    } finally {
      // A socket that throws is not asked again, and the others get theirs.
      if (batch.next === batch.sendQueues.length) this.#finish(batch);
      if (this.#flushing !== undefined || this.#gathering.sendQueues.length > 0) this.#schedule();
    }
  }

  #write(batch: FlushBatch): void {
    const { sendQueues } = batch;
    const end = Math.min(sendQueues.length, batch.next + SOCKETS_PER_TURN);
    let bytes = 0;
    while (batch.next < end && bytes < BYTES_PER_TURN) {
      const sendQueue = sendQueues[batch.next];
      batch.next += 1;
      bytes += sendQueue?.flush() ?? 0;
    }
  }

  #finish({ consumedAt }: FlushBatch): void {
    this.#flushing = undefined;
    this.frameBatches.clear();
    const now = this.#now();
    for (const then of consumedAt) this.#observeDelay(Math.max(0, now - then) / 1000);
  }
}
