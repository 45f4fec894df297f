import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { Backoff } from '../../support/backoff.ts';
import type { Clock } from '../../support/clock.ts';
import type { DeadLetterSink } from '../dead-letter.ts';
import { BatchTooLarge } from './codecs.ts';
import type { RecordBatch } from './driver.ts';

interface BadBatchesOptions {
  /**
   * `stop`: tries the partition again until the batch can be decoded. `skip`: goes on after the batch, if its end is known.
   */
  readonly policy: 'stop' | 'skip';
  /** Undefined: skipped batches are logged and counted only. */
  readonly sink: DeadLetterSink | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** A partition that does not go on. */
interface StoppedPartition {
  readonly topic: string;
  readonly firstOffset: number;
  readonly reason: string;
  readonly backoff: Backoff;
}

const RETRY = { firstMs: 400, maxMs: 30_000 };

/**
 * Record batches that can't be decoded: of an unknown codec, with a wrong checksum, or damaged. Such a batch stops only its
 * own partition, or is skipped. A batch that is too large is always skipped: waiting does not help.
 */
export class BadBatches {
  readonly #options: BadBatchesOptions;
  readonly #stopped = new Map<string, StoppedPartition>();

  constructor(options: BadBatchesOptions) {
    this.#options = options;
  }

  /** Partitions that are stopped at the moment. */
  get size(): number {
    return this.#stopped.size;
  }

  /** @returns why the partition is stopped; undefined if it is not */
  reason(topic: string, partition: number): string | undefined {
    return this.#stopped.get(keyOf(topic, partition))?.reason;
  }

  /** Handles a bad batch that is the next to be consumed. */
  async handle(batch: RecordBatch): Promise<void> {
    // A batch that can't be sent to the dead-letter topic also stops the partition, and is tried again.
    const isTooLarge = batch.bad?.error instanceof BatchTooLarge;
    const mayBeSkipped =
      (isTooLarge || this.#options.policy === 'skip') && batch.bad?.lastOffset !== undefined;
    if (mayBeSkipped && (await this.#sendDeadLetter(batch))) await this.#skip(batch);
    else this.#stop(batch);
  }

  /** Records of this partition have been decoded. */
  recovered(topic: string, partition: number): void {
    if (!this.#stopped.delete(keyOf(topic, partition))) return;
    this.#count(topic);
    this.#options.log.info({ topic, partition }, 'a partition goes on: its record batch can be decoded now');
  }

  /** The member has joined anew: it finds out again which partitions are bad. */
  clear(): void {
    const topics = new Set([...this.#stopped.values()].map(({ topic }) => topic));
    this.#stopped.clear();
    for (const topic of topics) this.#count(topic);
  }

  #stop(batch: RecordBatch): void {
    const { clock, stopping } = this.#options;
    const { topic, partition } = batch;
    const firstOffset = batch.bad?.firstOffset ?? -1;
    const key = keyOf(topic, partition);
    let stopped = this.#stopped.get(key);
    if (stopped?.firstOffset !== firstOffset) {
      const reason = messageOf(batch.bad?.error);
      stopped = { topic, firstOffset, reason, backoff: new Backoff({ ...RETRY, random: clock.random }) };
      this.#stopped.set(key, stopped);
      this.#count(topic);
      this.#report(batch, 'a record batch can’t be decoded; its partition is stopped until it can');
    }
    const resume = batch.pause();
    void clock.sleep(stopped.backoff.next(), stopping).then(resume);
  }

  async #skip(batch: RecordBatch): Promise<void> {
    const { topic, partition } = batch;
    this.#report(batch, 'a record batch can’t be decoded; it is skipped');
    if (this.#stopped.delete(keyOf(topic, partition))) this.#count(topic);
    await batch.commit(lastOffsetOf(batch) + 1);
  }

  /** @returns whether the letter is acknowledged, or there is no dead-letter topic */
  async #sendDeadLetter(batch: RecordBatch): Promise<boolean> {
    const { sink, log } = this.#options;
    const { topic, partition, bad } = batch;
    const headers = {
      'sluice-topic': topic,
      'sluice-partition': String(partition),
      'sluice-offset': String(bad?.firstOffset),
      'sluice-last-offset': String(lastOffsetOf(batch)),
      'sluice-reason': bad?.error instanceof BatchTooLarge ? 'too_large' : 'bad_batch',
    };
    try {
      await sink?.send([{ key: null, value: null, headers }]);
      return true;
    } catch (thrown) {
      log.warn(
        { topic, partition, error: messageOf(thrown) },
        'a skipped batch was not taken by the dead-letter topic',
      );
      return false;
    }
  }

  #report({ topic, partition, bad }: RecordBatch, message: string): void {
    const { metrics, log } = this.#options;
    metrics.badBatches.inc({ topic });
    const offsets = { offset: bad?.firstOffset, lastOffset: bad?.lastOffset };
    log.error({ topic, partition, ...offsets, error: messageOf(bad?.error) }, message);
  }

  #count(topic: string): void {
    const stopped = [...this.#stopped.values()].filter((partition) => partition.topic === topic);
    this.#options.metrics.badPartitions.set({ topic }, stopped.length);
  }
}

/** The header may be damaged too: the partition goes on after the batch's first offset, at its own end at the latest. */
function lastOffsetOf({ bad, highWatermark }: RecordBatch): number {
  const { firstOffset = 0, lastOffset = highWatermark } = bad ?? {};
  return Math.max(firstOffset, Math.min(lastOffset, highWatermark - 1));
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
