import kafkajs, { type ICustomPartitioner, type Kafka, type Producer } from '#kafkajs';
import type { DeadLetterMessage } from '../../dead-letter.ts';
import type { StoppableSink } from '../driver.ts';
import { isTooLarge } from './is-too-large.ts';
import { producerHeaders } from './producer-headers.ts';

/** Sent together at most; brokers take about 1 MB by default. */
const BATCH_BYTES = 256 * 1_024;

/** Writes dead letters to a Kafka topic. Connects with the first one. */
export class DeadLetterProducer implements StoppableSink {
  readonly #topic: string;
  readonly #producer: Producer;
  #connected: Promise<void> | undefined;

  constructor(kafka: Kafka, topic: string) {
    this.#topic = topic;
    this.#producer = kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: byOrigin,
    });
  }

  async send(messages: readonly DeadLetterMessage[]): Promise<void> {
    await this.#connect();
    let batch: DeadLetterMessage[] = [];
    let bytes = 0;
    for (const message of messages) {
      const size = message.value?.length ?? 0;
      if (batch.length > 0 && bytes + size > BATCH_BYTES) {
        await this.#sendBatch(batch);
        batch = [];
        bytes = 0;
      }
      batch.push(message);
      bytes += size;
    }
    await this.#sendBatch(batch);
  }

  async stop(): Promise<void> {
    if (this.#connected !== undefined) await this.#producer.disconnect();
  }

  #connect(): Promise<void> {
    this.#connected ??= this.#producer.connect().catch((cause: unknown) => {
      this.#connected = undefined;
      throw cause;
    });
    return this.#connected;
  }

  async #sendBatch(batch: readonly DeadLetterMessage[]): Promise<void> {
    try {
      await this.#producer.send({ topic: this.#topic, acks: -1, messages: batch.map(copyOf) });
    } catch (thrown) {
      if (!isTooLarge(thrown)) throw thrown;
      // Its headers make the record larger than the topic takes, and would on each retry. Topic, partition and offset are
      // kept; the record itself is still there, in its own topic.
      if (batch.length > 1) for (const message of batch) await this.#sendBatch([message]);
      else await this.#sendBatch(batch.map(withoutValue));
    }
  }
}

/** Letters of one partition go to one partition, also those with different keys: a replay sends them back in their order. */
const byOrigin: ICustomPartitioner = () => {
  const byKey = kafkajs.Partitioners.DefaultPartitioner();
  return (all) => {
    const { headers = {} } = all.message;
    const key = `${String(headers['sluice-topic'])}/${String(headers['sluice-partition'])}`;
    return byKey({ ...all, message: { ...all.message, key } });
  };
};

const copyOf = ({ key, value, headers }: DeadLetterMessage) => ({
  key,
  value,
  headers: producerHeaders(headers),
});

function withoutValue({ key, value, headers }: DeadLetterMessage): DeadLetterMessage {
  return { key, value: null, headers: { ...headers, 'sluice-bytes-left-out': String(value?.length ?? 0) } };
}
