import { setTimeout as passes } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import type { Kafka, Producer } from 'kafkajs';
import { eventually } from '../helpers/eventually.ts';
import { kafkaProducer } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';

const SENDS_PER_SECOND = 100;

/** How many keys and partitions there are. */
export interface Spread {
  readonly keys: number;
  readonly partitions: number;
}

export interface Item {
  readonly id: string;
  readonly n: number;
  readonly partition: number;
}

const createPartitioner =
  () =>
  ({ message: { value } }: { message: { value: Buffer | string | null } }) =>
    (JSON.parse(String(value)) as Item).partition;

/** A steady stream of numbered events, each key on one partition. */
export class Sender {
  readonly sent: (Item & { readonly at: number })[] = [];
  readonly #topic: string;
  readonly #spread: Spread;
  readonly #burst: number;
  readonly #producer: Producer;
  #stopping = new AbortController();
  #sending: Promise<void> | undefined;

  private constructor(topic: string, spread: Spread, burst: number, producer: Producer) {
    this.#topic = topic;
    this.#spread = spread;
    this.#burst = burst;
    this.#producer = producer;
  }

  static async start(
    t: TestContext,
    kafka: Kafka,
    topic: string,
    spread: Spread,
    burst: number,
  ): Promise<Sender> {
    // What a broker has taken without saying so is not taken once more.
    const once = { idempotent: true, maxInFlightRequests: 1 };
    const producer = await kafkaProducer(t, kafka, { createPartitioner, ...once });
    const sender = new Sender(topic, spread, burst, producer);
    t.after(() => sender.hold());
    sender.release();
    return sender;
  }

  async hold(): Promise<void> {
    this.#stopping.abort();
    await this.#sending;
  }

  release(): void {
    this.#stopping = new AbortController();
    this.#sending = this.#run(this.#stopping.signal);
  }

  /** One more event for each key. */
  async sendToAll(): Promise<void> {
    await this.hold();
    await this.#send(this.#spread.keys);
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      await passes(1_000 / SENDS_PER_SECOND);
      await this.#send(this.#burst);
    }
  }

  async #send(count: number): Promise<void> {
    const { keys, partitions } = this.#spread;
    const messages = range(this.sent.length, this.sent.length + count).map((n) => {
      const item = { id: String(n % keys), n, partition: (n % keys) % partitions };
      this.sent.push({ ...item, at: Date.now() });
      return { key: item.id, value: JSON.stringify(item) };
    });
    await eventually(() => this.#producer.send({ topic: this.#topic, messages }));
  }
}
