import { randomUUID } from 'node:crypto';
import type { Config } from '../../../config/settings.ts';
import type { Log } from '../../../log.ts';
import type { DeadLetterKafka, ReplaySink, TopicReader } from '../../dead-letters/kafka.ts';
import { missingTopics, topicRanges } from './admin.ts';
import type { KafkaConnection } from '../connection.ts';
import { kafkaFactory, type KafkaFactory } from './client.ts';
import kafkajs, {
  type ICustomPartitioner,
  type Kafka,
  type Producer,
  type TopicMessages,
  type Consumer,
  type EachBatchPayload,
} from '#kafkajs';
import { messageOf } from '../../../errors.ts';
import type { ReplayMessage } from '../../dead-letters/letter.ts';
import { isTooLarge } from './is-too-large.ts';
import { producerHeaders } from './producer-headers.ts';
import { PartitionBuffer, type PartitionRange } from './partition-buffer.ts';
import { KafkajsBatch } from './record-batch.ts';

/** Most bytes that a broker sends of a partition at once; a single record may be larger. */
const FETCHED_BYTES = 1_024 * 1_024;

/** How long a fetch, and a look for partitions that may be fetched again, waits while there is nothing. */
const FETCH_WAIT_MS = 50;

type DeadLetterKafkaSettings = Pick<Config, 'KAFKA_GROUP_ID' | 'KAFKA_SESSION_TIMEOUT_MS'>;

/** Real brokers, for the commands on dead letters. */
export class KafkajsDeadLetterKafka implements DeadLetterKafka {
  readonly #kafka: KafkaFactory;
  readonly #settings: DeadLetterKafkaSettings;
  readonly #log: Log;

  constructor(connection: KafkaConnection, settings: DeadLetterKafkaSettings, log: Log) {
    this.#kafka = kafkaFactory(connection, log);
    this.#settings = settings;
    this.#log = log;
  }

  missingTopics(wanted: readonly string[]): Promise<string[]> {
    return missingTopics(this.#kafka(), wanted);
  }

  async open(topic: string, from: ReadonlyMap<number, number>): Promise<TopicReader> {
    const ranges = await topicRanges(this.#kafka(), topic, from);
    const { KAFKA_GROUP_ID, KAFKA_SESSION_TIMEOUT_MS } = this.#settings;
    const reader = new KafkajsTopicReader(this.#kafka(), topic, {
      ranges,
      // A group without members and positions is forgotten by the broker.
      groupId: `${KAFKA_GROUP_ID}-dead-letters-${randomUUID()}`,
      sessionTimeoutMs: KAFKA_SESSION_TIMEOUT_MS,
      log: this.#log,
    });
    try {
      await reader.start();
    } catch (thrown) {
      await reader.close();
      throw thrown;
    }
    return reader;
  }

  replaySink(): ReplaySink {
    return new ReplayProducer(this.#kafka(), (wanted) => this.missingTopics(wanted));
  }
}

interface ReaderOptions {
  readonly ranges: readonly PartitionRange[];
  /** A group that no other reader has: a group's members share the partitions. kafkajs does not consume without a group. */
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly log: Log;
}

/** Reads ranges of a topic's partitions with a consumer that commits nothing. */
class KafkajsTopicReader implements TopicReader {
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

/** Sends messages back to the partitions that they came from. Connects with the first of them. */
class ReplayProducer implements ReplaySink {
  readonly #producer: Producer;
  readonly #missing: (wanted: readonly string[]) => Promise<readonly string[]>;
  /** Topics that exist. */
  readonly #known = new Set<string>();
  #isConnected = false;

  constructor(kafka: Kafka, missing: (wanted: readonly string[]) => Promise<readonly string[]>) {
    this.#missing = missing;
    this.#producer = kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: originalPartitioner,
    });
  }

  async send(messages: readonly ReplayMessage[]): Promise<void> {
    if (!this.#isConnected) await this.#producer.connect();
    this.#isConnected = true;
    await this.#expectTopics(new Set(messages.map(({ topic }) => topic)));
    await this.#sendBatch(messages);
  }

  async stop(): Promise<void> {
    await this.#producer.disconnect().catch(() => undefined); // which kafkajs has logged
  }

  /** kafkajs would try for ten seconds, and say less. */
  async #expectTopics(topics: ReadonlySet<string>): Promise<void> {
    const unknown = [...topics].filter((topic) => !this.#known.has(topic));
    if (unknown.length === 0) return;
    const missing = await this.#missing(unknown);
    if (missing.length > 0) {
      throw new Error(
        `expected topics that exist and that this user may describe, got dead letters of ${missing.join(', ')}`,
      );
    }
    for (const topic of unknown) this.#known.add(topic);
  }

  async #sendBatch(messages: readonly ReplayMessage[]): Promise<void> {
    try {
      await this.#producer.sendBatch({ acks: -1, topicMessages: byTopic(messages) });
    } catch (thrown) {
      const [first] = messages;
      if (!isTooLarge(thrown) || first === undefined) throw thrown;
      if (messages.length === 1) throw tooLarge(first, thrown);
      for (const message of messages) await this.#sendBatch([message]);
    }
  }
}

function byTopic(messages: readonly ReplayMessage[]): TopicMessages[] {
  const result = new Map<string, TopicMessages>();
  for (const { topic, partition, key, value, headers } of messages) {
    const present = result.get(topic) ?? { topic, messages: [] };
    present.messages.push({ partition, key, value, headers: producerHeaders(headers) });
    result.set(topic, present);
  }
  return [...result.values()];
}

/** A topic that was made anew may have fewer partitions; kafkajs would drop messages to a partition that it lacks. */
const originalPartitioner: ICustomPartitioner = () => {
  const byKey = kafkajs.Partitioners.DefaultPartitioner();
  return (all) => {
    const { partition, ...message } = all.message;
    const exists = all.partitionMetadata.some(({ partitionId }) => partitionId === partition);
    return partition !== undefined && exists ? partition : byKey({ ...all, message });
  };
};

function tooLarge({ topic, value, headers }: ReplayMessage, cause: unknown): Error {
  const came = `one of ${value.length} bytes with ${Object.keys(headers).length} headers`;
  return new Error(`expected a message that ${topic} takes, got ${came}: ${messageOf(cause)}`, { cause });
}
