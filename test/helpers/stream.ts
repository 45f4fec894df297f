import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { Changes } from './changes.ts';
import { kafkaClient } from './kafka-client.ts';

/** Sends numbered events to one partition after the other, about 20 a second, until it is stopped. Needs 'kafka'. */
export class Stream {
  /** The number of events sent. Event `n` goes to partition `n` modulo the number of partitions. */
  sent = 0;
  readonly #topic: string;
  readonly #partitions: number;
  readonly #intervalMs: number;
  readonly #producer: Producer;
  readonly #idOf: (n: number) => number;
  readonly #changes = new Changes();
  #running = true;
  #done: Promise<void> = Promise.resolve();

  /** @param intervalMs the pause between events @param idOf returns an event's id; default: its number */
  constructor(
    topic: string,
    partitions: number,
    intervalMs = 50,
    kafka = kafkaClient(),
    idOf: (n: number) => number = (n) => n,
  ) {
    this.#topic = topic;
    this.#partitions = partitions;
    this.#intervalMs = intervalMs;
    this.#producer = kafka.producer();
    this.#idOf = idOf;
  }

  /** Starts to send. The stream stops when the test ends, at the latest. */
  async start(t: TestContext): Promise<void> {
    t.after(() => this.stop());
    await this.#producer.connect();
    this.#done = this.#run();
  }

  /** Resolves when Kafka has acknowledged all events. */
  async stop(): Promise<void> {
    if (!this.#running) return;
    this.#running = false;
    await this.#done;
    await this.#producer.disconnect();
  }

  /** Resolves when `count` more events have been sent. */
  async more(count: number): Promise<void> {
    const wanted = this.sent + count;
    await this.#changes.until(
      () => this.sent >= wanted || undefined,
      () => `expected ${wanted} events to be sent, got ${this.sent}`,
    );
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const n = this.sent;
      const message = { partition: n % this.#partitions, value: JSON.stringify({ id: this.#idOf(n), n }) };
      await this.#producer.send({ topic: this.#topic, messages: [message] });
      this.sent += 1;
      this.#changes.emit();
      await delay(this.#intervalMs);
    }
  }
}
