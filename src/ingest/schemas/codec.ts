import { LRUCache } from 'lru-cache';
import { messageOf } from '../../errors.ts';
import { DecodeError } from '../../events/decode-error.ts';
import type { JsonValue } from '../../events/event.ts';
import { snakeCase } from '../../events/snake-case.ts';
import { avroDecoder } from '../../formats/avro.ts';
import { SchemaFault } from '../../formats/schema-fault.ts';
import { malformed } from '../../formats/cursor.ts';
import type { Decoder, Naming } from '../../formats/decoder.ts';
import { textsOf } from '../../formats/describe.ts';
import { protobufDecoder } from '../../formats/protobuf.ts';
import { ProtobufSchema, type MessageChoice } from '../../formats/protobuf-schema.ts';
import { KEY_SHAPE, type Shape } from '../../formats/shape.ts';
import { needsSchema } from '../../graph/encoding/encoding.ts';
import type { FormatName, Topic } from '../../graph/graph.ts';
import { isRecord } from '../../support/kind-of.ts';
import { shortened } from '../../support/shortened.ts';
import { decodeJson } from '../decode.ts';
import type { KafkaRecord } from '../record.ts';
import { readFrame, type Framed, type IdKind } from './schema-id.ts';
import type { SchemaText } from './schema-text.ts';

/** Characters of the schemas of one topic whose decoders are kept; each takes some ten times as much memory. */
const MOST_KEPT = 8 * 1024 * 1024;

/** For how long a schema that can't be used is not asked for again. */
const FAULT_MS = 30_000;

const SHOWN_CHARACTERS = 300;

/** Where the schemas are that messages name. */
export interface Schemas {
  /** @throws SchemaUnavailable, or DecodeError `unknown_schema` */
  schema(kind: IdKind, id: string): Promise<SchemaText>;
}

interface CodecOptions {
  readonly format: FormatName;
  /** By a schema of the graph's folder; undefined: each message names its schema. */
  readonly decode: Decoder | undefined;
  readonly part: 'value' | 'key';
  readonly shape: Shape | undefined;
  readonly naming: Naming;
  readonly schemas: Schemas | undefined;
}

/** Decodes the values, or the keys, of one topic. */
export class Codec {
  readonly #options: CodecOptions;
  readonly #decoders = new LRUCache<string, Decoder | DecodeError>({ maxSize: MOST_KEPT });

  constructor(options: CodecOptions) {
    this.#options = options;
  }

  /** The codec of a topic's values. */
  static ofValues(topic: Topic, schemas: Schemas | undefined, naming: Naming): Codec {
    const { format = 'JSON', decodeValue: decode, shape } = topic;
    return new Codec({ format, decode, part: 'value', shape, naming, schemas });
  }

  /** The codec of a topic's keys; undefined: they are text. */
  static ofKeys(topic: Topic, schemas: Schemas | undefined, naming: Naming): Codec | undefined {
    const { keyFormat: format, decodeKey: decode } = topic;
    if (format === undefined) return undefined;
    return new Codec({ format, decode, part: 'key', shape: KEY_SHAPE, naming, schemas });
  }

  /** Whether values name schemas of a registry. */
  get asksForSchemas(): boolean {
    const { format, decode, schemas } = this.#options;
    return needsSchema(format) && decode === undefined && schemas !== undefined;
  }

  /**
   * Asks for the schema that the bytes name.
   *
   * @returns undefined if it is here, or none is needed. The promise rejects with SchemaUnavailable only; any other fault is
   *   that of `decode`
   */
  schema(bytes: Buffer, { headers }: Pick<KafkaRecord, 'headers'>): Promise<unknown> | undefined {
    const { format, part, schemas } = this.#options;
    if (!this.asksForSchemas || schemas === undefined) return undefined;
    try {
      const { kind, id, message } = readFrame(bytes, headers, part, format === 'PROTOBUF');
      if (this.#decoders.has(keyOf({ kind, id, message }))) return undefined;
      return schemas.schema(kind, id).catch((error: unknown) => {
        if (!(error instanceof DecodeError)) throw error;
      });
    } catch {
      return undefined;
    }
  }

  /** Decodes JSON that a value holds as text or as bytes. @param path where it is in the value. @throws DecodeError */
  decodeWithin(json: Buffer, path: string): JsonValue {
    const { shape, naming } = this.#options;
    return decodeJson(json, shape?.field(path), naming);
  }

  /**
   * @param bytes the record's value, or its key
   * @returns a promise only if its schema is not known yet
   * @throws DecodeError, or rejects with it, or with SchemaUnavailable
   */
  decode(bytes: Buffer, { headers }: Pick<KafkaRecord, 'headers'>): JsonValue | Promise<JsonValue> {
    const { format, decode, part, schemas, shape, naming } = this.#options;
    if (format === 'JSON') return decodeJson(bytes, shape, naming);
    if (format === 'JSON_SCHEMA') return decodeJson(withoutId(bytes), shape, naming);
    if (decode !== undefined) return decode(bytes);
    const frame = readFrame(bytes, headers, part, format === 'PROTOBUF');
    const key = keyOf(frame);
    const known = this.#decoders.get(key);
    if (known instanceof DecodeError) throw known;
    if (known !== undefined) return known(frame.payload);
    if (schemas === undefined) throw malformed(`expected a schema registry for format ${format}, got none`);
    return schemas
      .schema(frame.kind, frame.id)
      .then((schema) => this.#compile(key, schema, frame)(frame.payload));
  }

  /** @throws DecodeError `bad_schema` */
  #compile(key: string, schema: SchemaText, { message }: Framed): Decoder {
    // Another record of the chunk may have waited for the same schema.
    const known = this.#decoders.get(key);
    if (known instanceof DecodeError) throw known;
    if (known !== undefined) return known;
    try {
      const decoder = this.#decoderOf(schema, message);
      this.#decoders.set(key, decoder, { size: sizeOf(schema) });
      return decoder;
    } catch (cause) {
      const error = new DecodeError('bad_schema', shortened(messageOf(cause), SHOWN_CHARACTERS), { cause });
      this.#decoders.set(key, error, { ttl: FAULT_MS, size: key.length + SHOWN_CHARACTERS });
      throw error;
    }
  }

  #decoderOf({ type, text, references }: SchemaText, message: MessageChoice = [0]): Decoder {
    const { format, shape, naming } = this.#options;
    if (type !== '' && type !== format) {
      throw new SchemaFault(`expected a schema of format ${format}, got one of ${type}`);
    }
    if (format === 'AVRO') {
      return avroDecoder(text, textsOf(references), shape, naming);
    }
    return protobufDecoder(new ProtobufSchema(text, references).message(message), shape, naming);
  }
}

/** JSON begins with no byte of 0. The id is not looked up: the GraphQL schema says what the event must be. */
function withoutId(bytes: Buffer): Buffer {
  if (bytes[0] === 0) return bytes.subarray(bytes.length >= 9 && bytes.readUInt32BE(1) === 0 ? 9 : 5);
  return bytes[0] === 1 ? bytes.subarray(17) : bytes;
}

/** At most as much as is kept, so that the largest is kept, too. */
function sizeOf({ text, references }: SchemaText): number {
  const characters = references.reduce((sum, one) => sum + one.text.length, text.length);
  return Math.min(characters + 1, MOST_KEPT);
}

function keyOf({ kind, id, message }: Pick<Framed, 'kind' | 'id' | 'message'>): string {
  return `${kind} ${id} ${String(message ?? '')}`;
}

/**
 * The text of a Kafka key: a scalar's own; of an object with one field, or with a field of this name, that field's.
 *
 * @param name the field that the topic's events are routed by
 */
export function keyText(key: JsonValue, name: string | undefined): string | null {
  if (!isRecord(key)) return typeof key === 'string' || key === null ? key : JSON.stringify(key);
  // Connectors that write JSON put its schema beside it.
  const { payload, schema } = key as Record<string, JsonValue>;
  const whole = payload !== undefined && isRecord(schema) && Object.keys(key).length === 2 ? payload : key;
  if (!isRecord(whole)) return keyText(whole as JsonValue, name);
  const entries = Object.entries(whole as Record<string, JsonValue>);
  const [, value] = entries.find(([field]) => snakeCase(field) === name || field === name) ?? [];
  const found = value ?? (entries.length === 1 ? entries[0]?.[1] : undefined);
  return found === undefined
    ? JSON.stringify(whole)
    : typeof found === 'string'
      ? found
      : JSON.stringify(found);
}
