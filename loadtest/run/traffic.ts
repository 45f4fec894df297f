import type { Load } from '../report/report.ts';
import type { Producer } from './producer.ts';
import { bodyText, channelName, eventValue } from './workload.ts';

/** Makes up events, numbered for each channel, and knows how many deliveries they are to come to. */
export class Traffic {
  readonly #producer: Producer;
  readonly #body: string;
  /** Sockets that are to get the events of each channel. */
  #watchers: readonly number[];
  #events = 0;
  #expected = 0;

  constructor(
    producer: Producer,
    load: Pick<Load, 'channels' | 'payloadBytes'>,
    watchers: readonly number[],
  ) {
    this.#producer = producer;
    this.#body = bodyText(load);
    this.#watchers = watchers;
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
    return this.#watchers.length;
  }

  /** Sends so many events, to one channel after the other. Resolves when Kafka has them. */
  async send(count: number): Promise<void> {
    const sentAt = Date.now();
    const messages = Array.from({ length: count }, () => {
      const index = this.#events % this.channels;
      const seq = Math.floor(this.#events / this.channels) + 1;
      this.#events += 1;
      this.#expected += this.#watchers[index] ?? 0;
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
  reduceTo(watchers: readonly number[]): void {
    this.#watchers = watchers;
  }

  /** Takes what has arrived so far for what was to arrive: who subscribes meanwhile gets the later ones only. */
  settle(deliveries: number): void {
    this.#expected = deliveries;
  }
}
