import { messageOf } from '../errors.ts';
import { DecodeError } from '../events/decode-error.ts';
import type { Event } from '../events/event.ts';
import { encodeMessage } from '../events/message.ts';
import { checkKeys } from '../events/safe-keys.ts';
import { SnakeCase } from '../events/snake-case.ts';
import type { TracedSteps, PassedOverReason } from '../events/trace.ts';
import type { Topic } from '../graph/graph.ts';
import { MAX_MATCHED, topicNamed } from '../graph/topics.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { TraceFields } from '../tracing/traceparent.ts';
import { KeyRouting } from './key-routing.ts';
import { keyValuesOf, type KeyValues } from './key-values.ts';
import { MissingKeys } from './missing-keys.ts';
import { hasValue, type EventRecord, type KafkaRecord } from './record.ts';
import { route } from './route.ts';
import type { Schemas } from './schemas/codec.ts';
import { SchemaUnavailable } from './schemas/schema-unavailable.ts';
import { SlowRecords } from './slow-records.ts';
import { Tombstone } from './tombstone.ts';
import { knownEvents, TopicReader, type KnownEvents, type Reading } from './topic-reader.ts';
import { RoutedEvent, type Encode, type EncodeResult, type RouteResult } from './routed-event.ts';

export interface PipelineOptions {
  readonly topics: ReadonlyMap<string, Topic>;
  /** Prefix of all channel names. */
  readonly prefix: string;
  /** Events older than this are skipped; 0: no event is too old. */
  readonly maxAgeSeconds: number;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms */
  readonly now: () => number;
  readonly trace?: TracedSteps | undefined;
  /** The schemas that messages name. Absent: none can be had. */
  readonly schemas?: Schemas | undefined;
  /** Whether copies of CloudEvents are events: where records are read again. Absent: false. */
  readonly takesCopies?: boolean;
}

/** A topic, and what reads its records and the values of its keys. */
interface RoutedTopic extends Topic {
  readonly reader: TopicReader;
  readonly keyValues: KeyValues;
}

/** A record on its way. */
interface Routed {
  readonly record: KafkaRecord;
  readonly topic: RoutedTopic;
  /** As text; null if the record has none. */
  readonly key: string | null;
  /** ms */
  readonly consumedAt: number;
}

/** Where a message comes from. */
interface Origin extends Routed {
  /** The span that publishes the message; undefined: its trace is not sampled. */
  readonly span: TraceFields | undefined;
}

/**
 * Turns the bytes of one record into what is published, in two steps. Between them the caller finds out whether the
 * channels have subscribers:
 *
 *     route: decode ──► channels of the event       encode: snake_case ──► JSON
 *     route: channels of the Kafka key              encode: decode ──► channels of the event ──► snake_case ──► JSON
 *
 * So a value that is no JSON object is always found (unless the Kafka key is enough), but a fault inside it (nesting, keys
 * that could pollute prototypes) only if a subscriber would have got the event.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  #topics: ReadonlyMap<string, Topic>;
  /** By their names in Kafka: topics that have had records. */
  readonly #routed = new Map<string, RoutedTopic>();
  readonly #maxAgeMs: number;
  readonly #snakeCase = new SnakeCase();
  readonly #known = new Map<string, KnownEvents>();
  readonly #keyRouting: KeyRouting;
  readonly #missingKeys: MissingKeys;
  readonly #slow: SlowRecords;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#topics = options.topics;
    this.#maxAgeMs = options.maxAgeSeconds * 1_000;
    this.#keyRouting = new KeyRouting(options);
    this.#missingKeys = new MissingKeys(options);
    this.#know(options.topics.values());
    this.#slow = new SlowRecords(options);
  }

  /** From now on, records are routed by these topics. Records that are routed already are encoded by the former ones. */
  use(topics: ReadonlyMap<string, Topic>): void {
    for (const [name, before] of this.#routed) {
      const topic = topicNamed(topics, name);
      if (topic === undefined || !hasSameKeys(before, topic)) this.#keyRouting.forget(name);
    }
    this.#topics = topics;
    this.#routed.clear();
    this.#know(topics.values());
  }

  #topicOf(name: string): RoutedTopic | undefined {
    const known = this.#routed.get(name);
    if (known !== undefined) return known;
    const topic = topicNamed(this.#topics, name);
    if (topic === undefined) return undefined;
    const routed = {
      ...topic,
      reader: new TopicReader(topic, this.#options.schemas, this.#snakeCase, this.#knownOf(topic)),
      keyValues: keyValuesOf(topic, this.#snakeCase),
    };
    // Topics that match patterns come and go.
    if (this.#routed.size === this.#topics.size + MAX_MATCHED) this.#routed.clear();
    this.#routed.set(name, routed);
    this.#know([topic]);
    return routed;
  }

  /** The memory of a topic's CloudEvents outlives its graph. Topics that match a pattern share the room of one. */
  #knownOf({ name, streams, envelope }: Topic): KnownEvents | undefined {
    if (envelope !== 'CLOUDEVENTS' || this.#options.takesCopies === true) return undefined;
    const owner = this.#topics.has(name) ? name : (streams[0]?.name ?? name);
    let known = this.#known.get(owner);
    if (known === undefined) this.#known.set(owner, (known = knownEvents()));
    return known;
  }

  /** Counters begin at 0: otherwise Prometheus would not see the first increase of each. */
  #know(topics: Iterable<Topic>): void {
    for (const topic of topics) {
      if (topic.pattern !== undefined) continue;
      this.#options.metrics.tombstones.inc({ topic: topic.name }, 0);
      this.#missingKeys.know(topic);
    }
  }

  /**
   * Asks for the schemas that records of one topic name, so that they can be routed at once.
   *
   * @returns undefined if they are here; the promise rejects with SchemaUnavailable
   */
  schemas(records: readonly KafkaRecord[]): Promise<unknown> | undefined {
    const reader = this.#topicOf(records[0]?.topic ?? '')?.reader;
    if (reader?.asksForSchemas !== true) return undefined;
    const asked = records.flatMap((record) => reader.schemas(record) ?? []);
    return asked.length === 0 ? undefined : Promise.all(asked);
  }

  /**
   * Never throws. A promise only if the topic's own decode gives one, or if a schema is not known yet: then it may reject
   * with SchemaUnavailable, and nothing is known of the record.
   */
  route(record: KafkaRecord): RouteResult | Promise<RouteResult> {
    const topic = this.#topicOf(record.topic);
    if (topic === undefined) return this.#passOver(record, 'no_field');
    try {
      const key = topic.reader.key(record);
      if (!(key instanceof Promise)) return this.#routeKeyed(record, topic, key);
      return key.then((text) => this.#routeKeyed(record, topic, text)).catch(keyError);
    } catch (thrown) {
      return keyError(thrown);
    }
  }

  #routeKeyed(
    record: KafkaRecord,
    topic: RoutedTopic,
    key: string | null,
  ): RouteResult | Promise<RouteResult> {
    if (!hasValue(record)) return this.#delete(record, topic, key);
    const consumedAt = this.#options.now();
    if (this.#maxAgeMs > 0 && record.timestamp >= 0 && consumedAt - record.timestamp > this.#maxAgeMs) {
      this.#options.metrics.staleEvents.inc({ topic: topic.name });
      return this.#passOver(record, 'too_old');
    }
    const routed = { record, topic, key, consumedAt };
    // Whether a change deletes its row is in the value.
    const channels = topic.envelope === 'DEBEZIUM' ? undefined : this.#keyRouting.channels(key, topic);
    if (channels === undefined) return this.#decode(record, routed);
    const { keys } = topic;
    this.#options.trace?.listener?.({ step: 'routed', record, keys, event: undefined, channels });
    return new RoutedEvent(record, topic, channels, (span) => encoded(this.#decode(record, routed), span));
  }

  /** Notes that the key's object is deleted, however old the record is: what it deletes may be kept. */
  #delete(
    record: KafkaRecord,
    topic: Topic,
    key: string | null,
    reason: 'tombstone' | 'deleted' = 'tombstone',
  ): Tombstone | undefined {
    this.#options.metrics.tombstones.inc({ topic: topic.name });
    this.#passOver(record, reason);
    return Tombstone.of(record, topic, key);
  }

  #passOver(record: KafkaRecord, reason: PassedOverReason): undefined {
    this.#options.trace?.listener?.({ step: 'passed_over', record, reason });
  }

  #decode(record: EventRecord, routed: Routed): RouteResult | Promise<RouteResult> {
    if (this.#slow.isGivenUp(record)) return tooSlow();
    const startedAt = this.#options.now();
    const result = this.#tryDecode(record, routed);
    this.#slow.note(record, startedAt, routed.consumedAt);
    return this.#slow.isGivenUp(record) ? tooSlow() : result;
  }

  #tryDecode(record: EventRecord, routed: Routed): RouteResult | Promise<RouteResult> {
    try {
      const read = routed.topic.reader.read(record, routed.key);
      if (!(read instanceof Promise)) return this.#route(read, routed);
      return read.then((reading) => this.#route(reading, routed)).catch(decodeError);
    } catch (thrown) {
      return decodeError(thrown);
    }
  }

  /** @throws DecodeError */
  #route(reading: Reading, routed: Routed): RouteResult {
    const { record, topic, key } = routed;
    if (reading === 'deleted') return this.#delete(record, topic, key, 'deleted');
    if (typeof reading === 'string') return this.#passOver(record, reading);
    const values = topic.keyValues(reading);
    const channels = route(values, topic, this.#options.prefix);
    this.#keyRouting.compare(channels, key, record, topic);
    this.#options.trace?.listener?.({ step: 'routed', record, keys: topic.keys, event: values, channels });
    const { consumedAt } = routed;
    const encode: Encode = (span) =>
      this.#encode(reading, channels, { record, topic, key, consumedAt, span });
    return new RoutedEvent(record, topic, channels, encode, this.#missingKeys.note(values, topic, record));
  }

  #encode(event: Event, channels: readonly string[], origin: Origin): EncodeResult {
    const { record, consumedAt } = origin;
    const startedAt = this.#options.now();
    const result = this.#tryEncode(event, channels, origin);
    this.#slow.note(record, startedAt, consumedAt);
    return this.#slow.isGivenUp(record) ? tooSlow() : result;
  }

  #tryEncode(
    decoded: Event,
    channels: readonly string[],
    { record, topic, key, consumedAt, span }: Origin,
  ): EncodeResult {
    try {
      const payload = encodeMessage({
        v: 1,
        t: topic.name,
        ...(record.topicId !== undefined && { id: record.topicId }),
        p: record.partition,
        o: record.offset,
        ...(record.epoch !== undefined && { e: record.epoch }),
        ts: record.timestamp,
        in: consumedAt,
        key,
        event: this.#transform(decoded, topic),
        ...span,
      });
      return { channels, payload };
    } catch (thrown) {
      return decodeError(thrown);
    }
  }

  /** @throws DecodeError */
  #transform(event: Event, { keyStyle }: Topic): Event {
    if (keyStyle === 'SNAKE') return this.#snakeCase.transform(event);
    checkKeys(event);
    return event;
  }
}

/** Whether Kafka keys of a topic say the same as before of its events. */
function hasSameKeys(one: Topic, other: Topic): boolean {
  const { kafkaKey, keyFormat, format, envelope } = other;
  // Decoders of files are made anew with each graph.
  if (other.decodeKey !== undefined || other.decodeValue !== undefined) return false;
  return (
    one.kafkaKey === kafkaKey &&
    one.keyFormat === keyFormat &&
    one.format === format &&
    one.envelope === envelope
  );
}

function encoded(
  result: RouteResult | Promise<RouteResult>,
  span: TraceFields | undefined,
): EncodeResult | Promise<EncodeResult> {
  if (result instanceof Promise) return result.then((routed) => encoded(routed, span));
  if (result instanceof Tombstone) return undefined;
  return result instanceof RoutedEvent ? result.encode(span) : result;
}

function tooSlow(): DecodeError {
  return new DecodeError('too_slow', 'expected to decode it within 2 s, took longer twice');
}

/** A fault of the Kafka key. @throws SchemaUnavailable as it is */
function keyError(thrown: unknown): DecodeError {
  const { reason, message, cause } = decodeError(thrown);
  return new DecodeError(reason, `Kafka key: ${message}`, { cause });
}

/**
 * Anything else than a DecodeError is a fault of the gateway, and still costs only this record.
 *
 * @throws SchemaUnavailable as it is
 */
function decodeError(thrown: unknown): DecodeError {
  if (thrown instanceof SchemaUnavailable) throw thrown;
  return thrown instanceof DecodeError
    ? thrown
    : new DecodeError('decode_failed', messageOf(thrown), { cause: thrown });
}
