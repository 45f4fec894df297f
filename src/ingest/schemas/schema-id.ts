import { Cursor, malformed } from '../../formats/cursor.ts';
import type { MessageChoice } from '../../formats/protobuf-schema.ts';
import type { RawHeaders } from '../record.ts';

/** How a message names its schema. */
export type IdKind =
  /** Confluent's number, or Apicurio's of contents that are equal. */
  | 'id'
  /** Confluent's UUID, which all registries have alike. */
  | 'guid'
  /** Apicurio's number of an artifact's version. */
  | 'global';

/** A schema, as a message names it, and the encoded value. */
export interface Framed {
  readonly kind: IdKind;
  readonly id: string;
  readonly payload: Buffer;
  /** Of Protobuf; undefined: the first message of the file. */
  readonly message: MessageChoice | undefined;
}

/** Confluent's header holds a UUID behind a byte of 1. */
const CONFLUENT_HEADERS = { value: '__value_schema_id', key: '__key_schema_id' } as const;

const MAGIC_ID = 0;
const MAGIC_GUID = 1;

/** A file has no deeper messages, nor longer lists of them, than any that is written by hand. */
const MAX_INDEXES = 100;
const MOST_NAME = 1_000;

/**
 * Reads what serializers with a registry write around a value. In the headers: Confluent's UUID, Apicurio's ids. Before
 * the value: a byte of 0 and a number of four bytes, in Apicurio 2 of eight. The upper half of the latter is 0, which no
 * registry gives as a number of four bytes.
 *
 * @param isProtobuf whether the message's name or place in its file follows
 * @throws DecodeError `malformed`
 */
export function readFrame(
  bytes: Buffer,
  headers: RawHeaders | undefined,
  part: 'value' | 'key',
  isProtobuf: boolean,
): Framed {
  const confluent = headerOf(headers, CONFLUENT_HEADERS[part]);
  if (confluent !== undefined) {
    const { kind, id, rest } = confluentId(confluent);
    return { kind, id, payload: bytes, message: isProtobuf ? indexesIn(new Cursor(rest)) : undefined };
  }
  const apicurio = apicurioHeaders(headers, part);
  if (apicurio !== undefined) return { ...apicurio, payload: bytes };
  if (bytes.length >= 9 && bytes[0] === MAGIC_ID && bytes.readUInt32BE(1) === 0) {
    const id = longId(bytes, 1);
    const cursor = new Cursor(bytes, 9);
    const message = isProtobuf ? refIn(cursor) : undefined;
    return { kind: 'global', id, payload: cursor.rest(), message };
  }
  const { kind, id, rest } = confluentId(bytes);
  const cursor = new Cursor(rest);
  const message = isProtobuf ? indexesIn(cursor) : undefined;
  return { kind, id, payload: cursor.rest(), message };
}

/** An id of eight bytes. */
function longId(bytes: Buffer, at: number): string {
  const id = bytes.readBigInt64BE(at);
  if (id < 0n) throw malformed('expected the id of a schema, got a negative number');
  return String(id);
}

function confluentId(bytes: Buffer): { kind: IdKind; id: string; rest: Buffer } {
  const [magic] = bytes;
  if (magic === MAGIC_ID && bytes.length >= 5) {
    const id = bytes.readInt32BE(1);
    if (id < 0) throw malformed('expected the id of a schema, got a negative number');
    return { kind: 'id', id: String(id), rest: bytes.subarray(5) };
  }
  if (magic === MAGIC_GUID && bytes.length >= 17) {
    const hex = bytes.toString('hex', 1, 17);
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { kind: 'guid', id, rest: bytes.subarray(17) };
  }
  throw malformed('expected the id of a schema before the value or in a header, got neither');
}

function apicurioHeaders(
  headers: RawHeaders | undefined,
  part: 'value' | 'key',
): Omit<Framed, 'payload'> | undefined {
  const message = headerOf(headers, part === 'key' ? 'apicurio.protobuf.type.key' : 'apicurio.protobuf.type');
  for (const [kind, name] of [
    ['global', 'globalId'],
    ['id', 'contentId'],
  ] as const) {
    const bytes = headerOf(headers, `apicurio.${part}.${name}`);
    if (bytes?.length !== 8) continue;
    if ((message?.length ?? 0) > MOST_NAME) {
      throw malformed(`expected the name of a message, of at most ${MOST_NAME} bytes, got a longer header`);
    }
    return { kind, id: longId(bytes, 0), message: message?.toString() };
  }
  return undefined;
}

/** The last value of a header. */
function headerOf(headers: RawHeaders | undefined, name: string): Buffer | undefined {
  const found = headers?.[name];
  const last = Array.isArray(found) ? found.at(-1) : found;
  return typeof last === 'string' ? Buffer.from(last, 'latin1') : last;
}

/** Confluent's indexes; none stand for the first message. */
function indexesIn(cursor: Cursor): readonly number[] {
  const count = Number(cursor.zigzag());
  if (count < 0 || count > MAX_INDEXES)
    throw malformed(`expected at most ${MAX_INDEXES} indexes, got ${count}`);
  return count === 0 ? [0] : Array.from({ length: count }, () => Number(cursor.zigzag()));
}

/** Apicurio's name of the message: a message of its own, with its length before it. */
function refIn(cursor: Cursor): string {
  const end = cursor.limit(cursor.varint());
  let name = '';
  while (!cursor.isAtEnd) {
    const tag = cursor.varint();
    const length = cursor.varint();
    if (tag !== 0x0a || length > MOST_NAME) {
      throw malformed(`expected the name of a message, of at most ${MOST_NAME} bytes, got something else`);
    }
    name = cursor.text(length);
  }
  cursor.endAt(end);
  return name;
}
