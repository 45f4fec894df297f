import { spawn } from 'node:child_process';
import { once } from 'node:events';
import kafkajs from 'kafkajs';

export interface Outgoing {
  readonly key: string;
  /** Without newline. */
  readonly value: string;
}

const KEY_END = '\t';

const OPTIONS = [
  'partitioner=murmur2_random',
  'queue.buffering.max.ms=1',
  'topic.metadata.propagation.max.ms=0',
];

/**
 * Writes events to Kafka, in the order given: many at once by kcat, as one floods by hand. One alone goes by
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

  /** Resolves when Kafka has acknowledged these and all before them. */
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
    // It may end before it has read everything; its exit code tells.
    kcat.stdin.on('error', () => undefined);
    kcat.stdin.end(messages.map(({ key, value }) => `${key}${KEY_END}${value}\n`).join(''));
    const [code] = (await once(kcat, 'close')) as [number | null];
    if (code !== 0) throw new Error(`kcat ended with ${code}: ${complaints}`);
  }
}
