import { DecodeError } from '../events/decode-error.ts';
import { PublishError, type Publication, type Publisher } from '../events/publisher.ts';
import type { Metrics } from '../metrics.ts';
import type { DeadLetter, DeadLetters } from './dead-letter.ts';
import type { Pipeline } from './pipeline.ts';
import type { KafkaRecord } from './record.ts';
import type { RoutedEvent } from './routed-event.ts';

interface Parts {
  readonly pipeline: Pipeline;
  readonly deadLetters: DeadLetters;
  readonly metrics: Metrics;
}

/** What one attempt publishes of the events that are left. */
interface PublishAttempt {
  readonly publications: Publication[];
  /** For each event of the attempt, the index after its last publication. */
  readonly ends: number[];
  /** For each event of the attempt, whether a channel of it has subscribers. */
  readonly subscribed: boolean[];
}

/**
 * Consecutive records of one partition, on their way to the bus together. Each attempt asks the bus first which channels
 * have subscribers; events of other channels are neither encoded nor published. A failed attempt may be repeated: it
 * goes on at the first event that the bus has not acknowledged.
 */
export class Chunk {
  readonly #parts: Parts;
  readonly #events: readonly RoutedEvent[];
  /** Those that Kafka has not acknowledged yet. */
  #deadLetters: DeadLetter[];
  /** Index of the first event that the bus has not acknowledged. */
  #next = 0;

  private constructor(events: RoutedEvent[], deadLetters: DeadLetter[], parts: Parts) {
    this.#events = events;
    this.#deadLetters = deadLetters;
    this.#parts = parts;
  }

  /** Routes the records and counts them. Waits only if a graph's own decode does. Never rejects. */
  static async of(records: readonly KafkaRecord[], parts: Parts): Promise<Chunk> {
    const events: RoutedEvent[] = [];
    const deadLetters: DeadLetter[] = [];
    const results = records.map((record) => parts.pipeline.route(record));
    for (const [index, pending] of results.entries()) {
      const result = pending instanceof Promise ? await pending : pending;
      const record = records[index];
      if (record === undefined || result === undefined) continue;
      if (result instanceof DecodeError) {
        const letter = { record, error: result };
        parts.deadLetters.note(letter);
        deadLetters.push(letter);
      } else {
        events.push(result);
      }
    }
    const topic = records[0]?.topic;
    if (topic !== undefined) parts.metrics.events.inc({ topic }, records.length);
    return new Chunk(events, deadLetters, parts);
  }

  /**
   * Resolves when everything is acknowledged: publications by the bus, dead letters by Kafka. May be called again
   * after a failure.
   *
   * @throws PublishError, or the errors of `publisher.subscribed` and of sending dead letters
   */
  async deliver(publisher: Publisher): Promise<void> {
    if (this.#next < this.#events.length) await this.#publish(publisher);
    // In the order of the records, though some faults are found later than others.
    const letters = this.#deadLetters.toSorted((one, other) => one.record.offset - other.record.offset);
    if (letters.length > 0) await this.#parts.deadLetters.send(letters);
    this.#deadLetters = [];
  }

  async #publish(publisher: Publisher): Promise<void> {
    const events = this.#next === 0 ? this.#events : this.#events.slice(this.#next);
    const asked = new Set<string>();
    for (const { channels } of events) for (const channel of channels) asked.add(channel);
    const subscribed = await publisher.subscribed([...asked]);
    // An event that was routed by its Kafka key may have further channels, which the bus was not asked about.
    const isSubscribed = (channel: string): boolean => subscribed.has(channel) || !asked.has(channel);
    const attempt = await this.#prepare(events, isSubscribed);
    const { publications } = attempt;
    try {
      if (publications.length > 0) await publisher.publish(publications);
    } catch (thrown) {
      if (thrown instanceof PublishError) this.#acknowledge(attempt, thrown.acknowledged);
      throw thrown;
    }
    this.#acknowledge(attempt, publications.length);
  }

  async #prepare(
    events: readonly RoutedEvent[],
    isSubscribed: (channel: string) => boolean,
  ): Promise<PublishAttempt> {
    const attempt: PublishAttempt = { publications: [], ends: [], subscribed: [] };
    for (const event of events) {
      const subscribed = event.channels.some(isSubscribed);
      if (subscribed) {
        const isFirst = !event.isEncoded;
        const pending = event.encode();
        const result = pending instanceof Promise ? await pending : pending;
        if (result instanceof DecodeError) {
          if (isFirst) this.#noteDeadLetter({ record: event.record, error: result });
        } else if (result !== undefined) {
          const { channels, payload } = result;
          for (const channel of channels)
            if (isSubscribed(channel)) attempt.publications.push({ channel, payload });
        }
      }
      attempt.subscribed.push(subscribed);
      attempt.ends.push(attempt.publications.length);
    }
    return attempt;
  }

  #noteDeadLetter(letter: DeadLetter): void {
    this.#parts.deadLetters.note(letter);
    this.#deadLetters.push(letter);
  }

  /** Moves on to the first event that is not acknowledged in full, and counts those without subscribers. */
  #acknowledge({ ends, subscribed }: PublishAttempt, acknowledged: number): void {
    let count = 0;
    let unsubscribed = 0;
    while (count < ends.length && (ends[count] ?? 0) <= acknowledged) {
      if (subscribed[count] === false) unsubscribed += 1;
      count += 1;
    }
    const topic = this.#events[0]?.record.topic;
    if (topic !== undefined && unsubscribed > 0) {
      this.#parts.metrics.unsubscribedEvents.inc({ topic }, unsubscribed);
    }
    this.#next += count;
  }
}
