import { murmur2, produceV9, ProduceAcks, type MessageRecord } from '#@platformatic/kafka';
import { systemClock } from '../../../support/clock.ts';
import type { DeadLetterMessage } from '../../dead-letter.ts';
import type { RawHeaders } from '../../record.ts';
import { sendDeadLetters } from '../dead-letter-batches.ts';
import type { StoppableSink } from '../driver.ts';
import type { Cluster, TopicLayout } from './cluster.ts';
import { groupBy } from './group-by.ts';
import { isRetriable, isTooLarge, kafkaError } from './kafka-error.ts';

const RETRIES = 5;
const RETRY_MS = 300;
const ACK_TIMEOUT_MS = 5_000;

/** Writes dead letters to a Kafka topic. Connects with the first one. */
export class DeadLetterProducer implements StoppableSink {
  readonly #topic: string;
  readonly #cluster: Cluster;
  readonly #stopping = new AbortController();
  #layout: TopicLayout | undefined;

  constructor(cluster: Cluster, topic: string) {
    this.#topic = topic;
    this.#cluster = cluster;
  }

  send(messages: readonly DeadLetterMessage[]): Promise<void> {
    return sendDeadLetters(messages, { send: (batch) => this.#sendBatch(batch), isTooLarge });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#cluster.close();
  }

  /** What was written before a failure is not written again. */
  async #sendBatch(batch: readonly DeadLetterMessage[]): Promise<void> {
    let left = batch;
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#layout ??= (await this.#cluster.topics([this.#topic])).get(this.#topic);
        const { leaders = [] } = this.#layout ?? {};
        const partitionOf = (message: DeadLetterMessage) => partitionByOrigin(message, leaders.length);
        for (const [partition, messages] of groupBy(left, partitionOf)) {
          await this.#produce(leaders[partition] ?? -1, partition, messages);
          left = left.filter((message) => !messages.includes(message));
        }
        return;
      } catch (thrown) {
        const error = kafkaError(thrown, 'writing dead letters');
        this.#layout = undefined;
        if (attempt > RETRIES || !isRetriable(error) || this.#stopping.signal.aborted) throw error;
        await systemClock.sleep(RETRY_MS * attempt, this.#stopping.signal);
      }
    }
  }

  async #produce(node: number, partition: number, messages: readonly DeadLetterMessage[]): Promise<void> {
    const records = messages.map((message) => recordOf(this.#topic, partition, message));
    const broker = this.#cluster.broker(node);
    await this.#cluster.answering.request(
      broker,
      'writing dead letters',
      produceV9.api,
      ProduceAcks.ALL,
      ACK_TIMEOUT_MS,
      records,
      {},
    );
  }
}

/** Letters of one partition go to one partition, even with different keys: a replay sends them back in their order. */
function partitionByOrigin({ headers }: DeadLetterMessage, partitions: number): number {
  const key = `${String(headers['sluice-topic'])}/${String(headers['sluice-partition'])}`;
  return (murmur2(key) & 0x7fffffff) % Math.max(1, partitions);
}

/** The package's types know no tombstones; its writer does. */
function recordOf(
  topic: string,
  partition: number,
  { key, value, headers }: DeadLetterMessage,
): MessageRecord {
  return { topic, partition, key, value, headers: headersOf(headers) } as unknown as MessageRecord;
}

/** Each name is a buffer of its own, so that it may occur more than once. */
function headersOf(raw: RawHeaders): Map<Buffer, Buffer | null> {
  const pairs = Object.entries(raw).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, each] as const),
  );
  return new Map(
    pairs.map(([name, value]) => [Buffer.from(name), value == null ? null : Buffer.from(value)]),
  );
}
