import kafkajs, { type ICustomPartitioner, type Kafka, type Producer } from '#kafkajs';
import type { DeadLetterMessage } from '../../dead-letter.ts';
import { sendDeadLetters } from '../dead-letter-batches.ts';
import type { StoppableSink } from '../driver.ts';
import { isTooLarge } from './is-too-large.ts';
import { producerHeaders } from './producer-headers.ts';

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
    await sendDeadLetters(messages, { send: (batch) => this.#sendBatch(batch), isTooLarge });
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
    await this.#producer.send({ topic: this.#topic, acks: -1, messages: batch.map(copyOf) });
  }
}

/** Letters of one partition go to one partition, even with different keys: a replay sends them back in their order. */
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
