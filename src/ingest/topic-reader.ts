import { LRUCache } from 'lru-cache';
import type { Event, JsonValue } from '../events/event.ts';
import type { SnakeCase } from '../events/snake-case.ts';
import type { FieldSource, Topic } from '../graph/graph.ts';
import { isRecord } from '../support/kind-of.ts';
import { decodeWith, expectEvent } from './decode.ts';
import { headerText, openEnvelope } from './envelope.ts';
import { keyValuesOf, type KeyValues } from './key-values.ts';
import type { EventRecord, KafkaRecord } from './record.ts';
import { Codec, keyText, type Schemas } from './schemas/codec.ts';

/** What a record is, once it has been read. */
export type Reading =
  | Event
  /** The topic's own decode has left it out. */
  | 'by_decode'
  /** It is about no object: a heartbeat, the bounds of a transaction. */
  | 'by_envelope'
  /** A CloudEvent that has come before. */
  | 'duplicate'
  /** It deletes the object of its key. */
  | 'deleted';

/** CloudEvents of a topic that are known again. A producer that tries again sends the copy soon. */
const KNOWN_IDS = 10_000;
const KNOWN_CHARACTERS = 4 * 1024 * 1024;

/** Where CloudEvents were, by topic, source and id: a record that is read again is no copy of itself. */
export type KnownEvents = LRUCache<string, Pick<EventRecord, 'partition' | 'offset' | 'epoch'>>;

export function knownEvents(): KnownEvents {
  return new LRUCache({
    max: KNOWN_IDS,
    maxSize: KNOWN_CHARACTERS,
    sizeCalculation: (_, id) => id.length,
  });
}

/** Reads the records of one topic: decodes them, opens their envelope, and fills in what comes from elsewhere in them. */
export class TopicReader {
  readonly #topic: Topic;
  readonly #values: Codec;
  readonly #keys: Codec | undefined;
  readonly #pathValues: KeyValues;
  readonly #known: KnownEvents | undefined;

  readonly #snakeCase: SnakeCase;

  /**
   * @param schemas undefined if there is no registry
   * @param known where CloudEvents of the topic were; undefined: copies are taken, too
   */
  constructor(topic: Topic, schemas: Schemas | undefined, snakeCase: SnakeCase, known?: KnownEvents) {
    this.#topic = topic;
    this.#snakeCase = snakeCase;
    const naming = (name: string): string => this.#nameOf(name);
    this.#values = Codec.ofValues(topic, schemas, naming);
    this.#keys = Codec.ofKeys(topic, schemas, naming);
    const paths = [...(topic.from?.values() ?? [])].flatMap((one) => (one.kind === 'path' ? one.path : []));
    this.#pathValues = keyValuesOf({ keys: paths, keyStyle: topic.keyStyle }, snakeCase);
    this.#known = topic.envelope === 'CLOUDEVENTS' ? known : undefined;
  }

  /** Whether messages name schemas of a registry. */
  get asksForSchemas(): boolean {
    return this.#values.asksForSchemas || this.#keys?.asksForSchemas === true;
  }

  /**
   * Asks for the schemas that the record names, so that it can be read at once.
   *
   * @returns undefined if they are here, or none are named; the promise rejects with SchemaUnavailable
   */
  schemas(record: KafkaRecord): Promise<unknown> | undefined {
    const value =
      record.value === null || this.#topic.decode !== undefined
        ? undefined
        : this.#values.schema(record.value, record);
    const key = record.key === null ? undefined : this.#keys?.schema(record.key, record);
    return value === undefined || key === undefined ? (value ?? key) : Promise.all([value, key]);
  }

  /**
   * The Kafka key as text; null if there is none.
   *
   * @returns a promise only if its schema is not known yet
   * @throws DecodeError, or rejects with it, or with SchemaUnavailable
   */
  key(record: KafkaRecord): string | null | Promise<string | null> {
    const { key } = record;
    if (key === null || this.#keys === undefined) return key?.toString() ?? null;
    const { kafkaKey, keys } = this.#topic;
    const name = (kafkaKey ?? keys[0])?.split('.').at(-1);
    const decoded = this.#keys.decode(key, record);
    return decoded instanceof Promise ? decoded.then((one) => keyText(one, name)) : keyText(decoded, name);
  }

  /**
   * @param key of the record, as text
   * @returns a promise only if the topic's own decode gives one, or if the schema is not known yet
   * @throws DecodeError, or rejects with it, or with SchemaUnavailable
   */
  read(record: EventRecord, key: string | null): Reading | Promise<Reading> {
    const { decode } = this.#topic;
    if (decode !== undefined) {
      const decoded = decodeWith(decode, record);
      const finish = (value: JsonValue | null): Reading =>
        value === null ? 'by_decode' : this.#complete(expectEvent(value), value, record, key);
      return decoded instanceof Promise ? decoded.then(finish) : finish(decoded);
    }
    const decoded = this.#values.decode(record.value, record);
    return decoded instanceof Promise
      ? decoded.then((value) => this.#open(value, record, key))
      : this.#open(decoded, record, key);
  }

  #open(value: JsonValue, record: EventRecord, key: string | null): Reading {
    const { envelope = 'NONE' } = this.#topic;
    if (envelope === 'NONE') return this.#complete(expectEvent(value), value, record, key);
    const opened = openEnvelope(value, envelope, record.headers, (json, path) =>
      this.#values.decodeWithin(json, path),
    );
    if (typeof opened === 'string') return opened;
    if (this.#known !== undefined && this.#isCopy(opened.whole, record)) return 'duplicate';
    return this.#complete(expectEvent(opened.event), opened.whole, record, key);
  }

  #isCopy(whole: JsonValue, { topic, partition, offset, epoch }: EventRecord): boolean {
    if (!isRecord(whole) || whole['id'] === undefined || whole['source'] === undefined) return false;
    const id = JSON.stringify([topic, whole['source'], whole['id']]);
    const known = this.#known?.get(id);
    if (known === undefined) {
      this.#known?.set(id, { partition, offset, epoch });
      return false;
    }
    // A partition may be read again from an earlier place.
    return known.partition !== partition || known.epoch !== epoch || known.offset < offset;
  }

  #nameOf(key: string): string {
    return this.#topic.keyStyle === 'SNAKE' ? this.#snakeCase.name(key) : key;
  }

  #complete(event: Event, whole: JsonValue, record: EventRecord, key: string | null): Event {
    const { from } = this.#topic;
    if (from === undefined || from.size === 0) return event;
    const values = isRecord(whole) ? this.#pathValues(whole as Event) : {};
    // What the producer of the event writes must not stand for what the message says.
    for (const written of Object.keys(event)) if (from.has(this.#nameOf(written))) delete event[written];
    for (const [name, source] of from) event[name] = valueOf(source, values, record, key);
    return event;
  }
}

function valueOf(source: FieldSource, values: Event, record: EventRecord, key: string | null): JsonValue {
  switch (source.kind) {
    case 'header':
      return headerText(record.headers, source.name) ?? null;
    case 'key':
      return key;
    case 'path':
      return (Object.hasOwn(values, source.path) ? values[source.path] : null) ?? null;
    case 'metadata':
      switch (source.name) {
        case 'TIMESTAMP':
          return record.timestamp < 0 ? null : record.timestamp;
        case 'OFFSET':
          return record.offset;
        case 'PARTITION':
          return record.partition;
        case 'TOPIC':
          return record.topic;
      }
  }
}
