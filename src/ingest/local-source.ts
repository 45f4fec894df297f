import { randomUUID } from 'node:crypto';
import { SluiceError } from '../errors.ts';
import { systemClock } from '../support/clock.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Topic } from '../graph/graph.ts';
import { MAX_MATCHED } from '../graph/topics.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { DeadLetters } from './dead-letter.ts';
import { Pipeline } from './pipeline.ts';
import type { Publisher } from '../events/publisher.ts';
import type { TracedSteps } from '../events/trace.ts';
import { EventSpans } from './event-spans.ts';
import type { KafkaRecord } from './record.ts';
import { tooWide } from './record-bytes.ts';
import { Tombstone } from './tombstone.ts';
import { channelsIn, payloadIn, RoutedEvent, type EncodeResult } from './routed-event.ts';
import { DecodeError } from '../events/decode-error.ts';

export interface LocalSourceOptions {
  readonly topics: ReadonlyMap<string, Topic>;
  /** Prefix of all channel names. */
  readonly prefix: string;
  readonly publisher: Publisher;
  /** Bytes times channels of one event. */
  readonly maxFanoutBytes: number;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms */
  readonly now?: () => number;
  readonly trace?: TracedSteps | undefined;
  readonly tracing?: Tracing | undefined;
}

interface StatedInRecord {
  readonly headers?: KafkaRecord['headers'];
  /** ms since 1970 */
  readonly timestamp?: number | undefined;
}

/**
 * Takes events in this process, for modes without Kafka. They go the same way as Kafka's, as if each topic had one
 * partition that begins anew with the process.
 */
export class LocalSource {
  readonly #options: LocalSourceOptions;
  readonly #pipeline: Pipeline;
  readonly #deadLetters: DeadLetters;
  readonly #now: () => number;
  readonly #spans: EventSpans | undefined;
  /** Offsets begin anew with each process, as if topics had been made anew. */
  readonly #topicId = randomUUID();
  readonly #offsets = new Map<string, number>();
  /** Names and patterns of the graph's topics. */
  #names: ReadonlySet<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: LocalSourceOptions) {
    this.#options = options;
    const { topics, prefix, metrics, log, now = systemClock.now, trace, tracing } = options;
    this.#now = now;
    this.#names = new Set(topics.keys());
    this.#pipeline = new Pipeline({
      topics: asJson(topics),
      prefix,
      maxAgeSeconds: 0,
      metrics,
      log,
      now,
      trace,
    });
    this.#spans = tracing && new EventSpans(tracing, { 'messaging.system': 'sluice' });
    this.#deadLetters = new DeadLetters({ sink: undefined, metrics, log, now, trace });
  }

  /** Events are routed by these topics from now on. */
  use(topics: ReadonlyMap<string, Topic>): void {
    this.#names = new Set(topics.keys());
    this.#pipeline.use(asJson(topics));
  }

  /**
   * Resolves when the bus has acknowledged the event, or no channel of it has a subscriber.
   *
   * @param topic one of the graph's; others are passed over
   * @param value as a Kafka record would hold it, but JSON whatever the topic's format is
   * @param key as a Kafka record's key
   * @param stated the record's headers and timestamp; by default it has no headers, and the time is now
   * @throws DecodeError, or another SluiceError UNDECODABLE
   * @throws PublishError
   */
  accept(topic: string, value: Buffer, key?: string, stated: StatedInRecord = {}): Promise<void> {
    // One after the other, so that offsets are published in order, though a graph's decode may take its time.
    const accepted = this.#last.then(() => this.#accept(topic, value, key, stated));
    this.#last = accepted.catch(() => undefined);
    return accepted;
  }

  async #accept(
    topic: string,
    value: Buffer,
    key: string | undefined,
    { headers, timestamp = this.#now() }: StatedInRecord,
  ): Promise<void> {
    const { metrics, publisher, trace } = this.#options;
    this.#demandRoom(topic);
    const record: KafkaRecord = {
      topic,
      topicId: this.#topicId,
      partition: 0,
      offset: this.#nextOffset(topic),
      epoch: undefined,
      timestamp,
      key: key === undefined ? null : Buffer.from(key),
      value,
      headers,
    };
    metrics.events.inc({ topic });
    const span = this.#spans?.begin(record);
    // Encoded whether it has subscribers or not, so that the sender hears of any fault.
    const routed = await this.#pipeline.route(record);
    const encoded = routed instanceof RoutedEvent ? await routed.encode(span?.publishing()) : routed;
    if (encoded instanceof Tombstone) {
      for (const stream of encoded.streams)
        await publisher.publish(stream.name, [encoded.publication(stream)]);
      span?.end('passed_over');
      return;
    }
    const result = this.#narrow(encoded);
    const streams = routed instanceof RoutedEvent ? routed.streams : [];
    if (result instanceof DecodeError) {
      this.#deadLetters.note({ record, error: result }, span?.loggedIds);
      span?.fail(result);
      throw result;
    }
    if (result === undefined) {
      span?.end('passed_over');
      return;
    }
    let published = 0;
    for (const [index, stream] of streams.entries()) {
      const channels = channelsIn(result.channels, streams, index);
      const subscribed = await publisher.subscribed(stream.name, channels);
      const payload = payloadIn(result.payload, stream, record);
      const publications = [...subscribed].map((channel) => ({ channel, payload }));
      published += publications.length;
      if (publications.length > 0) await publisher.publish(stream.name, publications);
    }
    if (published === 0) {
      if (routed instanceof RoutedEvent && !routed.lacksKey) metrics.unsubscribedEvents.inc({ topic });
      trace?.listener?.({ step: 'unsubscribed', record });
      span?.end('unsubscribed');
      return;
    }
    trace?.listener?.({ step: 'published', record });
    span?.end('published');
  }

  /** Senders could make up any number of topics that match patterns. @throws SluiceError UNDECODABLE */
  #demandRoom(topic: string): void {
    if (this.#offsets.has(topic) || this.#names.has(topic) || this.#offsets.size < MAX_MATCHED) return;
    throw new SluiceError(
      'UNDECODABLE',
      `expected at most ${MAX_MATCHED} topics, got another one that matches a pattern: ${topic}`,
    );
  }

  #narrow(result: EncodeResult): EncodeResult {
    if (result === undefined || result instanceof DecodeError) return result;
    return tooWide(result, result.channels.length, this.#options.maxFanoutBytes) ?? result;
  }

  #nextOffset(topic: string): number {
    const offset = this.#offsets.get(topic) ?? 0;
    this.#offsets.set(topic, offset + 1);
    return offset;
  }
}

/** Events that are written by hand are JSON, and so are samples of them. */
function asJson(topics: ReadonlyMap<string, Topic>): ReadonlyMap<string, Topic> {
  return new Map(
    [...topics].map(([name, topic]) => [name, { ...topic, format: 'JSON', keyFormat: undefined }]),
  );
}
