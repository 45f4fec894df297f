import kafkajs, { type ICustomPartitioner, type Kafka, type Producer, type TopicMessages } from '#kafkajs';
import { messageOf } from '../../../errors.ts';
import type { ReplaySink } from '../../dead-letters/kafka.ts';
import type { ReplayMessage } from '../../dead-letters/letter.ts';
import { isTooLarge } from './is-too-large.ts';
import { producerHeaders } from './producer-headers.ts';

/** Sends messages back to the partitions that they came from. Connects with the first of them. */
export class ReplayProducer implements ReplaySink {
  readonly #producer: Producer;
  readonly #missingTopics: (wanted: readonly string[]) => Promise<readonly string[]>;
  /** Topics that exist. */
  readonly #known = new Set<string>();
  #isConnected = false;

  constructor(kafka: Kafka, missingTopics: (wanted: readonly string[]) => Promise<readonly string[]>) {
    this.#missingTopics = missingTopics;
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
    const missing = await this.#missingTopics(unknown);
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
