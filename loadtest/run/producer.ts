import { spawn } from 'node:child_process';
import { once } from 'node:events';
import kafkajs from 'kafkajs';

export interface Outgoing {
  readonly key: string;
  /** The event as JSON, without newline. */
  readonly value: string;
}

const KEY_END = '\t';

const OPTIONS = [
  'partitioner=murmur2_random',
  'queue.buffering.max.ms=1',
  'topic.metadata.propagation.max.ms=0',
];

/**
 * Writes events to Kafka, in the given order: many at once by kcat, as in a flood by hand, and a single event by
 * kafkajs: kcat reads its input in blocks, and would keep a single message until its input ends.
 */
export class Producer {
  readonly #brokers: string;
  readonly #topic: string;
  readonly #single: kafkajs.Producer;
  #sending: Promise<void>;

  constructor(brokers: string, topic: string) {
    this.#brokers = brokers;
    this.#topic = topic;
    this.#single = new kafkajs.Kafka({
      brokers: brokers.split(','),
      logLevel: kafkajs.logLevel.NOTHING,
    }).producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    this.#sending = this.#single.connect();
    this.#sending.catch(() => undefined);
  }

  /** Resolves when Kafka has acknowledged these messages and all earlier ones. */
  async send(messages: readonly Outgoing[]): Promise<void> {
    const before = this.#sending;
    this.#sending = before.then(() => (messages.length === 1 ? this.#one(messages) : this.#many(messages)));
    this.#sending.catch(() => undefined);
    await this.#sending;
  }

  async stop(): Promise<void> {
    await this.#sending.catch(() => undefined);
    await this.#single.disconnect();
  }

  async #one(messages: readonly Outgoing[]): Promise<void> {
    await this.#single.send({ topic: this.#topic, messages: [...messages] });
  }

  async #many(messages: readonly Outgoing[]): Promise<void> {
    const options = OPTIONS.flatMap((option) => ['-X', option]);
    const kcat = spawn('kcat', ['-b', this.#brokers, '-P', '-t', this.#topic, '-K', KEY_END, ...options]);
    let complaints = '';
    kcat.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    // kcat may end before it has read all of its input; the exit code tells so.
    kcat.stdin.on('error', () => undefined);
    kcat.stdin.end(messages.map(({ key, value }) => `${key}${KEY_END}${value}\n`).join(''));
    const [code] = (await once(kcat, 'close')) as [number | null];
    if (code !== 0) throw new Error(`kcat ended with ${code}: ${complaints}`);
  }
}
