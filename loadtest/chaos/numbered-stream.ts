import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { eventually } from '../../test/helpers/eventually.ts';
import { disconnectAfter, kafkaClient } from '../../test/helpers/kafka-client.ts';
import type { Scope } from '../../test/helpers/scope.ts';
import type { Numbers } from './chaos-messages.ts';

interface StreamOptions {
  /** Each of these topics gets every event. */
  readonly topics: readonly string[];
  /** Partitions of each topic. All events of a channel are in one partition. */
  readonly partitions: number;
  readonly channels: readonly string[];
  /** Events a second, over all channels. */
  readonly perSecond: number;
}

/** A channel that no client subscribes to. */
const UNHEARD = 'unheard';

/** Sends events at a steady rate to one channel after the other; each channel numbers its events from 1. */
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

  /** The last number of each channel that Kafka has acknowledged. */
  get sent(): Numbers {
    return { ...this.#sent };
  }

  /** Resolves when each partition takes events: a busy broker tells of new partitions before they take any. */
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

  /** Sends one last event on each channel, behind all other events. Rejects if Kafka has refused any event. */
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
