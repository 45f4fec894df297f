import type { Consumer, EachBatchPayload, Kafka } from '#kafkajs';
import type { Log } from '../../../log.ts';
import type { TopicReader } from '../../dead-letters/kafka.ts';
import { PartitionBuffer, type PartitionRange } from './partition-buffer.ts';
import { KafkajsBatch } from './record-batch.ts';

/** What a broker sends of a partition at once; a single record may be larger. */
const FETCHED_BYTES = 1_024 * 1_024;

/** How long a fetch, and a look for partitions that may be fetched again, waits while there is nothing. */
const FETCH_WAIT_MS = 50;

interface ReaderOptions {
  readonly ranges: readonly PartitionRange[];
  /** A group that no other reader has: a group's members share the partitions. kafkajs does not consume without a group. */
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly log: Log;
}

/** Reads ranges of a topic's partitions with a consumer that commits nothing. */
export class KafkajsTopicReader implements TopicReader {
  readonly partitions: readonly PartitionBuffer[];
  readonly #topic: string;
  readonly #log: Log;
  readonly #consumer: Consumer;

  constructor(kafka: Kafka, topic: string, { ranges, groupId, sessionTimeoutMs, log }: ReaderOptions) {
    this.#topic = topic;
    this.#log = log;
    this.partitions = ranges.map((range) => new PartitionBuffer(range));
    this.#consumer = kafka.consumer({
      groupId,
      allowAutoTopicCreation: false,
      sessionTimeout: sessionTimeoutMs,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: FETCHED_BYTES,
      retry: { retries: 5, restartOnFailure: () => Promise.resolve(false) },
    });
  }

  /** Joins the group, unless there is nothing to read. */
  async start(): Promise<void> {
    if (this.partitions.every(({ isAtEnd }) => isAtEnd)) return;
    const { CRASH, GROUP_JOIN, END_BATCH_PROCESS } = this.#consumer.events;
    this.#consumer.on(CRASH, ({ payload }) => {
      for (const partition of this.partitions) partition.fail(payload.error);
    });
    // During the join, before anything is fetched: as nothing is committed, kafkajs would begin anew.
    this.#consumer.on(GROUP_JOIN, () => this.#seek());
    // The only event for a fetch that has only transactions' markers, or records of aborted transactions.
    this.#consumer.on(END_BATCH_PROCESS, ({ payload }) => {
      this.#partition(payload.partition)?.add([], Number(payload.lastOffset) + 1);
    });
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topics: [this.#topic], fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => Promise.resolve(this.#take(payload)),
    });
  }

  async close(): Promise<void> {
    await this.#consumer.disconnect().catch(() => undefined); // which kafkajs has logged
  }

  #seek(): void {
    const topic = this.#topic;
    for (const { partition, position, isAtEnd } of this.partitions) {
      if (isAtEnd) this.#consumer.pause([{ topic, partitions: [partition] }]);
      else this.#consumer.seek({ topic, partition, offset: String(position) });
    }
  }

  #take(payload: EachBatchPayload): void {
    const batch = new KafkajsBatch(payload, { topicId: undefined, resets: 0 }, () => true);
    const partition = this.#partition(batch.partition);
    if (partition === undefined) {
      // The partition was added after the start.
      batch.pause();
      return;
    }
    const last = batch.bad?.lastOffset ?? Number(payload.batch.lastOffset());
    if (batch.bad !== undefined) this.#reportBad(batch.partition, batch.bad.firstOffset, last);
    payload.resolveOffset(String(last));
    partition.add(batch.records, last + 1);
    partition.pauseIfFull(() => batch.pause());
  }

  #reportBad(partition: number, offset: number, lastOffset: number): void {
    const at = { topic: this.#topic, partition, offset, lastOffset };
    this.#log.warn(at, 'passed over a record batch that can’t be decoded');
  }

  #partition(wanted: number): PartitionBuffer | undefined {
    return this.partitions.find(({ partition }) => partition === wanted);
  }
}
