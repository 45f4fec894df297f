import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { Backoff } from '../../support/backoff.ts';
import type { ByteSource } from '../../support/byte-budget.ts';
import { Chunk } from '../chunk.ts';
import { LettersNotTaken, type LettersInHand } from './letters-in-hand.ts';
import type { BadBatches } from './bad-batches.ts';
import type { RecordBatch } from './driver.ts';
import { SchemaUnavailable } from '../schemas/schema-unavailable.ts';
import { WaitingPartitions } from './waiting-partitions.ts';
import type { HeldBatch } from './state.ts';
import { PartitionTimes } from './partition-times.ts';
import type { Clock } from '../../support/clock.ts';
import type { DeadLetters } from '../dead-letter.ts';
import type { EventSpans } from '../event-spans.ts';
import type { Pipeline } from '../pipeline.ts';
import { bytesOnItsWay, largestRecord } from '../record-bytes.ts';
import type { KafkaRecord } from '../record.ts';
import type { LogPosition } from '../../events/log-position.ts';
import type { Publisher } from '../../events/publisher.ts';
import type { TracedSteps } from '../../events/trace.ts';

export interface BatchProcessorOptions {
  readonly pipeline: Pipeline;
  readonly publisher: Publisher;
  /** Reserves bytes for a record's whole way. */
  readonly records: ByteSource;
  /** Bytes times channels of one event. */
  readonly maxFanoutBytes: number;
  /** Why nothing must be published at the moment; undefined if it may be. */
  readonly hold?: () => string | undefined;
  readonly deadLetters: DeadLetters;
  /** Where `deadLetters` go to. Undefined: nowhere. */
  readonly letters?: LettersInHand | undefined;
  readonly badBatches: BadBatches;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Aborts at the stop, which also ends the wait for the bus to come back. */
  readonly stopping: AbortSignal;
  readonly trace?: TracedSteps | undefined;
  /** Undefined: no spans are recorded. */
  readonly spans?: EventSpans | undefined;
}

/** Records that are published together: enough to fill a Redis pipeline, few enough to repeat. */
const CHUNK_SIZE = 500;

/**
 * After so long, a batch is left after a chunk, so that other partitions get their turn; the rest is fetched again. A chunk
 * that is cut short, since its records are large or have many channels, keeps Redis and the receiving pods busy as well.
 */
const LONG_MS = { full: 100, short: 25 };

/** How often the driver is asked for a heartbeat while a batch is processed; it sends only those that are due. */
const HEARTBEAT_MS = 1_000;

/** How often a held batch asks whether it still has to wait. */
const HOLD_MS = 250;

/** After so many attempts (some 3 s), or one without an answer for 2 s, a chunk is given back, and its partition waits. */
const MAX_ATTEMPTS = 7;
const PATIENCE_MS = 2_000;

/** The reason of signals that only end a wait. Without one, each makes an error with its stack. */
const DONE = 'done';

const RETRY = { firstMs: 50, maxMs: 2_000 };

class NoAnswer extends Error {}

/** The bus has not taken a chunk. It may still take it if the last attempt is under way. */
class EventsNotTaken extends Error {}

/**
 * Publishes a batch to the bus, chunk by chunk. An offset is committed only when everything before it is acknowledged.
 * While the pod is under pressure the batch is held, which pauses its member's partitions; heartbeats keep the membership.
 * While the bus takes no events, or the dead-letter topic no letters, only the partitions that have some wait: the bus may
 * be several servers. No record is decoded before bytes are reserved for its whole way.
 *
 * A batch is left early at a stop, or a rebalance, which a heartbeat or a commit reports by throwing (the driver then joins
 * again). Records that are not committed by then are consumed again, here or by another pod.
 */
export class BatchProcessor {
  readonly #options: BatchProcessorOptions;
  readonly #times = new PartitionTimes();
  readonly #waiting = new WaitingPartitions();
  #held: HeldBatch | undefined;
  /** The last record of the chunk that is being delivered: some of the chunk may have been published. */
  #inHand: KafkaRecord | undefined;

  constructor(options: BatchProcessorOptions) {
    this.#options = options;
  }

  /** Why a partition waits: for the bus, the dead-letter topic, or for the end of a pause under pressure. */
  held(topic: string, partition: number): HeldBatch | undefined {
    const held = this.#held;
    return held?.topic === topic && held.partition === partition
      ? held
      : this.#waiting.held(topic, partition);
  }

  /** The times of what is consumed. */
  get times(): PartitionTimes {
    return this.#times;
  }

  /** The member has joined anew: another member may have the partitions. */
  clear(): void {
    this.#waiting.clear();
    this.#times.clear();
  }

  /** The last record of the partition that may have been published beyond its position; undefined: none has. */
  published(topic: string, partition: number): LogPosition | undefined {
    const inHand = this.#inHand;
    if (inHand?.topic === topic && inHand.partition === partition) return inHand;
    return this.#waiting.published(topic, partition);
  }

  async process(batch: RecordBatch): Promise<void> {
    const { badBatches } = this.#options;
    const { topic, partition } = batch;
    if (batch.bad !== undefined) {
      await badBatches.handle(batch);
      return;
    }
    badBatches.recovered(topic, partition);
    const done = new AbortController();
    void this.#beat(batch, done.signal);
    try {
      await this.#processRecords(batch);
    } finally {
      done.abort(DONE);
    }
  }

  async #processRecords(batch: RecordBatch): Promise<void> {
    const { clock } = this.#options;
    const { records } = batch;
    const startedAt = clock.now();
    const isCurrent = () => batch.isAssigned() && batch.isRunning() && !this.#options.stopping.aborted;
    const first = await this.#waiting.begin(batch);
    if (first === undefined) return;
    for (let start = first; start < records.length;) {
      await batch.heartbeat();
      if (!isCurrent()) return;
      if (!(await this.#untilReleased(batch, isCurrent))) return;
      this.#times.note(records[start]);
      const chunk = records.slice(start, start + CHUNK_SIZE);
      try {
        this.#inHand = chunk.at(-1);
        const last = await this.#deliverSome(chunk, batch, isCurrent);
        // A chunk that is published is committed in a stop too. After a rebalance it must not be: the partition may be
        // another pod's, which goes on where the last commit left off.
        if (last === undefined || !batch.isAssigned()) return;
        this.#times.note(last);
        await batch.commit(last.offset + 1);
        start = records.indexOf(last, start) + 1;
        const isFull = last === chunk.at(-1);
        if (clock.now() - startedAt >= (isFull ? LONG_MS.full : LONG_MS.short)) return;
      } finally {
        this.#inHand = undefined;
      }
    }
  }

  /**
   * Delivers the first of these records: those for which bytes can be reserved, and which go together.
   *
   * @returns the last one; undefined if the member has lost the partition, or is being stopped
   */
  async #deliverSome(
    records: readonly KafkaRecord[],
    batch: RecordBatch,
    isCurrent: () => boolean,
  ): Promise<KafkaRecord | undefined> {
    const { pipeline, metrics, deadLetters, maxFanoutBytes, trace, spans, stopping } = this.#options;
    const maxRecordBytes = largestRecord(this.#options.records.mostOfOwner);
    const { count, bytes } = this.#fitting(records, maxRecordBytes);
    const reservation = await this.#options.records.reserve(bytes, this, stopping).catch(() => undefined);
    if (reservation === undefined) return undefined;
    let chunk: Chunk | undefined;
    try {
      if (!isCurrent()) return undefined;
      const parts = { pipeline, metrics, deadLetters, maxRecordBytes, maxFanoutBytes, trace, spans };
      chunk = await Chunk.of(records.slice(0, count), parts);
      const { last } = chunk;
      return last && (await this.#deliver(chunk, last, batch, isCurrent)) ? last : undefined;
    } catch (thrown) {
      if (!(thrown instanceof SchemaUnavailable)) throw thrown;
      this.#awaitSchema(batch, thrown);
      return undefined;
    } finally {
      // An attempt without an answer may still go on.
      const attempt = chunk?.attempt ?? Promise.resolve();
      attempt.catch(() => undefined).finally(() => reservation.release());
    }
  }

  /** Makes the partition wait until it is worth asking for the schema again. */
  #awaitSchema(batch: RecordBatch, { message: reason, over }: SchemaUnavailable): void {
    this.#waiting.wait(batch, { reason, last: undefined }, async () => {
      await over;
      return false;
    });
  }

  /** How many of these records one reservation may cover, at least one, and how many bytes. */
  #fitting(records: readonly KafkaRecord[], maxRecordBytes: number) {
    const { mostOfOwner } = this.#options.records;
    let bytes = 0;
    for (const [index, record] of records.entries()) {
      const more = bytesOnItsWay(record, maxRecordBytes);
      if (index > 0 && bytes + more > mostOfOwner) return { count: index, bytes };
      bytes = Math.min(bytes + more, mostOfOwner);
    }
    return { count: records.length, bytes };
  }

  /** @returns whether the batch may go on; false if the member has lost the partition, or is being stopped */
  async #untilReleased(batch: RecordBatch, isCurrent: () => boolean): Promise<boolean> {
    const { hold, clock, stopping } = this.#options;
    const { topic, partition } = batch;
    try {
      for (let reason = hold?.(); reason !== undefined; reason = hold?.()) {
        this.#held = { topic, partition, reason };
        await clock.sleep(HOLD_MS, stopping);
        if (!isCurrent()) return false;
        await batch.heartbeat();
        if (!isCurrent()) return false;
      }
      return true;
    } finally {
      this.#held = undefined;
    }
  }

  /**
   * @returns whether the chunk is acknowledged; false if the member has lost the partition, or is being stopped, or the
   *   partition waits
   */
  async #deliver(
    chunk: Chunk,
    last: KafkaRecord,
    batch: RecordBatch,
    isCurrent: () => boolean,
  ): Promise<boolean> {
    const { letters } = this.#options;
    try {
      return await this.#untilTaken(chunk, batch, isCurrent);
    } catch (thrown) {
      const { message: reason } = thrown as Error;
      const wait = (untilOver: (isWaited: () => boolean) => Promise<boolean>): void =>
        this.#waiting.wait(batch, { reason, last }, untilOver);
      if (thrown instanceof EventsNotTaken) {
        wait((isWaited) => this.#untilAsked(chunk, isWaited));
      } else if (thrown instanceof LettersNotTaken && letters !== undefined) {
        wait((isWaited) => letters.untilTaken(batch, thrown, isWaited));
      } else {
        throw thrown;
      }
      return false;
    } finally {
      this.#held = undefined;
    }
  }

  /**
   * @returns whether the chunk is acknowledged; false if the member has lost the partition, or is being stopped
   * @throws EventsNotTaken, LettersNotTaken, SchemaUnavailable
   */
  async #untilTaken(chunk: Chunk, batch: RecordBatch, isCurrent: () => boolean): Promise<boolean> {
    const { publisher, clock, stopping, log } = this.#options;
    const { topic, partition } = batch;
    const backoff = new Backoff({ ...RETRY, random: clock.random });
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#patiently(chunk, chunk.deliver(publisher));
        const hasWaited = this.#waiting.delivered(topic, partition);
        if (attempt > 1 || hasWaited) log.info({ topic, partition, attempt }, 'events are taken again');
        return true;
      } catch (thrown) {
        // With letters that are not taken, all else of the chunk is acknowledged; without a schema, nothing is published.
        if (thrown instanceof LettersNotTaken || thrown instanceof SchemaUnavailable) throw thrown;
        const reason = messageOf(thrown);
        this.#held = { topic, partition, reason };
        const fields = { topic, partition, attempt, error: reason };
        const isFirst = attempt === 1 && this.#waiting.published(topic, partition) === undefined;
        if (isFirst) log.warn(fields, 'events were not taken; their partition waits until they are');
        else log.debug(fields, 'events were not taken');
        if (thrown instanceof NoAnswer || attempt === MAX_ATTEMPTS)
          throw new EventsNotTaken(reason, { cause: thrown });
      }
      await clock.sleep(backoff.next(), stopping);
      if (!isCurrent()) return false;
      await batch.heartbeat();
      if (!isCurrent()) return false;
    }
  }

  /** @throws NoAnswer if the bus takes longer than the other partitions should wait */
  async #patiently(chunk: Chunk, delivering: Promise<void>): Promise<void> {
    const done = new AbortController();
    const patience = this.#options.clock.sleep(PATIENCE_MS, done.signal).then(() => {
      if (!chunk.isPublished) throw new NoAnswer(`no answer within ${PATIENCE_MS} ms`);
      return delivering;
    });
    patience.catch(() => undefined);
    try {
      await Promise.race([delivering, patience]);
    } finally {
      done.abort(DONE);
    }
  }

  /**
   * Resolves once the bus answers questions about the chunk's channels, or nobody waits for it any more.
   *
   * @returns whether the chunk is acknowledged after all
   */
  async #untilAsked(chunk: Chunk, isWaited: () => boolean): Promise<boolean> {
    const { publisher, clock, stopping } = this.#options;
    try {
      await chunk.attempt;
      return true;
    } catch {
      // The chunk is not acknowledged.
    }
    const backoff = new Backoff({ ...RETRY, random: clock.random });
    while (!stopping.aborted && isWaited()) {
      await clock.sleep(backoff.next(), stopping);
      try {
        await chunk.ask(publisher);
        break;
      } catch {
        // The bus is still down.
      }
    }
    return false;
  }

  /**
   * Keeps the membership alive for as long as a batch takes. A rebalance does not cut the work short, since commands that have
   * been sent can't be called back; the next heartbeat of `#processRecords` reports it.
   */
  async #beat(batch: RecordBatch, done: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(HEARTBEAT_MS, done);
      if (done.aborted) return;
      try {
        await batch.heartbeat();
      } catch {
        // `#processRecords` hears of it from its own next heartbeat.
      }
    }
  }
}
