import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { eventually } from '../../test/helpers/eventually.ts';
import { disconnectAfter, kafkaClient } from '../../test/helpers/kafka-client.ts';
import type { Scope } from '../../test/helpers/scope.ts';
import type { Numbers } from './chaos-messages.ts';

interface StreamOptions {
  /** Each gets every event. */
  readonly topics: readonly string[];
  /** A channel's events are all in one of them. */
  readonly partitions: number;
  readonly channels: readonly string[];
  /** Over all channels. */
  readonly perSecond: number;
}

/** No client subscribes to it. */
const UNHEARD = 'unheard';

/** Events at a steady rate, dealt out to channels, and numbered for each from 1 on. */
export class NumberedStream {
  readonly #options: StreamOptions;
  readonly #producer: Producer = kafkaClient().producer();
  readonly #sent: Record<string, number> = {};
  readonly #stopping = new AbortController();
  #channel = 0;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** The numbers that Kafka has acknowledged. */
  get sent(): Numbers {
    return { ...this.#sent };
  }

  /** Resolves when each partition takes events: a busy broker tells of new ones before they do. */
  async connect(scope: Scope): Promise<void> {
    disconnectAfter(scope, this.#producer);
    await this.#producer.connect();
    const { topics, partitions } = this.#options;
    const value = JSON.stringify({ channel: UNHEARD });
    const messages = Array.from({ length: partitions }, (_, partition) => ({ partition, value }));
    for (const topic of topics) await eventually(() => this.#producer.send({ topic, messages }));
  }

  start(scope: Scope): void {
    scope.after(() => this.#stopping.abort());
    this.#sending = this.#run();
    this.#sending.catch(() => undefined);
  }

  /** Sends one more event on each channel, behind all others. Rejects if Kafka has refused any. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sending;
    for (const index of this.#options.channels.keys()) await this.#send(index);
  }

  async #run(): Promise<void> {
    const { channels, perSecond } = this.#options;
    const intervalMs = 1_000 / perSecond;
    for (let at = performance.now(); !this.#stopping.signal.aborted; at += intervalMs) {
      await this.#send(this.#channel);
      this.#channel = (this.#channel + 1) % channels.length;
      await delay(Math.max(0, at + intervalMs - performance.now()));
    }
  }

  async #send(index: number): Promise<void> {
    const { topics, partitions, channels } = this.#options;
    const channel = channels[index] ?? '';
    const n = (this.#sent[channel] ?? 0) + 1;
    const value = JSON.stringify({ channel, n, sentAt: Date.now() });
    const messages = [{ partition: index % partitions, key: channel, value }];
    await this.#producer.sendBatch({ topicMessages: topics.map((topic) => ({ topic, messages })) });
    this.#sent[channel] = n;
  }
}
