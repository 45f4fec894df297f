import type { Load } from '../report/report.ts';
import type { Producer } from './producer.ts';
import { bodyText, channelName, eventValue } from './workload.ts';

/** Sends events, numbered for each channel, and counts how many deliveries they are to come to. */
export class Traffic {
  readonly #producer: Producer;
  readonly #body: string;
  /** How many sockets are to get the events of each channel. */
  #subscribers: readonly number[];
  #events = 0;
  #expected = 0;

  constructor(
    producer: Producer,
    load: Pick<Load, 'channels' | 'payloadBytes'>,
    subscribers: readonly number[],
  ) {
    this.#producer = producer;
    this.#body = bodyText(load);
    this.#subscribers = subscribers;
  }

  /** Sent so far. */
  get events(): number {
    return this.#events;
  }

  /** What all events so far are to come to, over all sockets. */
  get expected(): number {
    return this.#expected;
  }

  get channels(): number {
    return this.#subscribers.length;
  }

  /** Sends so many events, to one channel after the other. Resolves when Kafka has them. */
  async send(count: number): Promise<void> {
    const sentAt = Date.now();
    const messages = Array.from({ length: count }, () => {
      const index = this.#events % this.channels;
      const seq = Math.floor(this.#events / this.channels) + 1;
      this.#events += 1;
      this.#expected += this.#subscribers[index] ?? 0;
      const channel = channelName(index);
      return { key: channel, value: eventValue(channel, seq, sentAt, this.#body) };
    });
    await this.#producer.send(messages);
  }

  /** Sends one event to each channel. @returns their number */
  async sendRound(): Promise<number> {
    await this.send(this.channels - (this.#events % this.channels));
    return Math.floor(this.#events / this.channels);
  }

  /** Some sockets read no more: these are left, for each channel. */
  reduceTo(subscribers: readonly number[]): void {
    this.#subscribers = subscribers;
  }

  /** Takes what has arrived so far for what was to arrive: a client that has subscribed meanwhile gets later ones only. */
  settle(deliveries: number): void {
    this.#expected = deliveries;
  }
}
