import type { EventTimes, WorkBudget } from '../../hub/work-budget.ts';
import type { SerializedResult } from '../../hub/result.ts';
import { FrameBatchCache } from './frame-batch.ts';
import type { LateReceiver } from './late-results.ts';
import type { SendQueue, SendQueueServices } from './send-queue.ts';

/** Sockets written to in one turn, some 7 ms; the others follow in the next, after other work of the event loop. */
const SOCKETS_PER_TURN = 1_024;

/** Bytes written in one turn: results may be large. */
const BYTES_PER_TURN = 16 * 1024 * 1024;

/** ms after which a turn stops writing, looked at every so many sockets: the rest follows in later turns. */
const WRITING_MS_PER_TURN = 20;
const SOCKETS_PER_LOOK = 16;

/**
 * The send queues to flush together: those that got something in one turn, or have a socket that drained in it. It covers
 * several turns if an earlier batch was still being written.
 */
class FlushBatch {
  readonly sendQueues: SendQueue[] = [];
  /** For the events with results in the batch: when they were consumed, and when they were written to Kafka, ms. */
  readonly consumedAt: number[] = [];
  readonly producedAt: number[] = [];
  /** Of traced events, by the event's index. Made when it is needed. */
  traceparents: Map<number, string> | undefined;
  /** Spans that end when the batch is written. Made when it is needed. */
  spans: { end(): void }[] | undefined;
  /** Index of the first queue that has not been flushed. */
  next = 0;
}

/**
 * Gets the time that each event took to be written to the sockets.
 *
 * @param delay from consumed, seconds
 * @param age from written to Kafka, seconds; undefined if Kafka does not know when that was
 * @param traceparent if it is traced
 */
type Observe = (delay: number, age: number | undefined, traceparent: string | undefined) => void;

/** Gets notices about slow sockets. */
type SlowSockets = Pick<SendQueueServices, 'leftOut' | 'caughtUp'>;

/**
 * Gathers what becomes ready in one turn of the event loop, and writes it at the turn's end: one write per socket.
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
  readonly now: () => number;
  readonly #observe: Observe;
  readonly #slow: Partial<SlowSockets>;

  /**
   * @param now ms, the clock that stamps events as consumed
   */
  constructor(now: () => number, observe: Observe, slow: Partial<SlowSockets> = {}) {
    this.now = now;
    this.#observe = observe;
    this.#slow = slow;
  }

  enlist(sendQueue: SendQueue): void {
    this.#gathering.sendQueues.push(sendQueue);
    this.#schedule();
  }

  leftOut(result: SerializedResult, receiver: LateReceiver): void {
    this.#slow.leftOut?.(result, receiver);
  }

  caughtUp(sendQueue: SendQueue): void {
    this.#slow.caughtUp?.(sendQueue);
  }

  timed(event: EventTimes): void {
    const batch = this.#gathering;
    const { sendQueues, consumedAt, producedAt } = batch;
    if (sendQueues.length === 0) return;
    if (event.traceparent !== undefined) {
      batch.traceparents ??= new Map();
      batch.traceparents.set(consumedAt.length, event.traceparent);
    }
    consumedAt.push(event.in);
    producedAt.push(event.ts);
  }

  traced(span: { end(): void }): void {
    const batch = this.#gathering;
    // All its results wait for slow sockets.
    if (batch.sendQueues.length === 0) return span.end();
    batch.spans ??= [];
    batch.spans.push(span);
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
      // A socket that throws is not tried again; the others still get their results.
      if (batch.next === batch.sendQueues.length) this.#finish(batch);
      if (this.#flushing !== undefined || this.#gathering.sendQueues.length > 0) this.#schedule();
    }
  }

  #write(batch: FlushBatch): void {
    const { sendQueues } = batch;
    const end = Math.min(sendQueues.length, batch.next + SOCKETS_PER_TURN);
    const until = this.now() + WRITING_MS_PER_TURN;
    let bytes = 0;
    while (batch.next < end && bytes < BYTES_PER_TURN) {
      const sendQueue = sendQueues[batch.next];
      batch.next += 1;
      bytes += sendQueue?.flush() ?? 0;
      // Sockets with results of their own may have each of them compressed.
      if (batch.next % SOCKETS_PER_LOOK === 0 && this.now() > until) break;
    }
  }

  #finish({ consumedAt, producedAt, traceparents, spans = [] }: FlushBatch): void {
    this.#flushing = undefined;
    this.frameBatches.clear();
    for (const span of spans) span.end();
    const now = this.now();
    for (const [index, consumed] of consumedAt.entries()) {
      const produced = producedAt[index] ?? -1;
      const age = produced < 0 ? undefined : secondsBetween(produced, now);
      this.#observe(secondsBetween(consumed, now), age, traceparents?.get(index));
    }
  }
}

/** Clocks of brokers and producers may be ahead of this pod's. */
function secondsBetween(then: number, now: number): number {
  return Math.max(0, now - then) / 1000;
}
