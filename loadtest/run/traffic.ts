import type { Load } from '../report/report.ts';
import type { Producer } from './producer.ts';
import { bodyText, channelName, eventValue } from './workload.ts';

/** Sends events, numbered for each channel, and counts the deliveries to expect. */
export class Traffic {
  readonly #producer: Producer;
  readonly #load: Pick<Load, 'transport'>;
  readonly #body: string;
  /** The number of sockets that get the events of each channel. */
  #subscribers: readonly number[];
  #events = 0;
  #expected = 0;

  constructor(
    producer: Producer,
    load: Pick<Load, 'channels' | 'payloadBytes' | 'transport'>,
    subscribers: readonly number[],
  ) {
    this.#producer = producer;
    this.#load = load;
    this.#body = bodyText(load);
    this.#subscribers = subscribers;
  }

  /** The number of events sent so far. */
  get events(): number {
    return this.#events;
  }

  /** The number of deliveries of all events so far, over all sockets. */
  get expected(): number {
    return this.#expected;
  }

  /** Sockets that get one event and read it, on average over the channels. */
  get readers(): number {
    return this.#subscribers.reduce((sum, count) => sum + count, 0) / this.channels;
  }

  get channels(): number {
    return this.#subscribers.length;
  }

  /** Sends `count` events, to one channel after the other. Resolves when Kafka has acknowledged them. */
  async send(count: number): Promise<void> {
    const sentAt = Date.now();
    const messages = Array.from({ length: count }, () => {
      const index = this.#events % this.channels;
      const seq = Math.floor(this.#events / this.channels) + 1;
      this.#events += 1;
      this.#expected += this.#subscribers[index] ?? 0;
      const channel = channelName(index);
      return { key: channel, value: eventValue(this.#load, channel, seq, sentAt, this.#body) };
    });
    await this.#producer.send(messages);
  }

  /** Sends each channel its next event, or the rest of a round. @returns the last number of each channel */
  async sendRound(): Promise<number> {
    await this.send(this.channels - (this.#events % this.channels));
    return Math.floor(this.#events / this.channels);
  }

  /** @param subscribers for each channel, the number of sockets that still read */
  reduceTo(subscribers: readonly number[]): void {
    this.#subscribers = subscribers;
  }

  /** Takes the deliveries so far as the expected ones: a client that has just subscribed lacks earlier events. */
  settle(deliveries: number): void {
    this.#expected = deliveries;
  }
}
