import { DecodeError } from '../events/decode-error.ts';
import type { EncodedEvent } from './routed-event.ts';
import type { KafkaRecord } from './record.ts';

/**
 * Heap bytes that a record takes on its whole way, for each of its bytes: 1 when fetched, up to 4 when decoded (lists of
 * numbers, small objects; most events: 1.7), sometimes twice while keys are renamed, and 1 when published. Lists of empty
 * objects take 21.
 */
const HEAP_BYTES_PER_BYTE = 8;

/** Parts of one JSON event. Each list, object and new key takes as much time as hundreds of bytes of text: so many take some 30 ms. */
const MAX_PARTS = 50_000;
const MAX_KEYS = 10_000;

/** JSON of at most so many bytes can't take long. */
const SHORT_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const LIST = 0x5b;
const OBJECT = 0x7b;
const SPACE = 0x20;

const FNV_PRIME = 0x01000193;

/** Bytes that a consumer holds of the record. */
function bytesOf({ key, value, headers }: KafkaRecord): number {
  let bytes = (key === null ? 0 : key.length) + (value === null ? 0 : value.length);
  for (const name in headers) bytes += name.length + String(headers[name]).length;
  return bytes;
}

/** Bytes to reserve before the record is decoded. A record that is too large is not decoded. */
export function bytesOnItsWay(record: KafkaRecord, mostBytes: number): number {
  const bytes = bytesOf(record);
  return bytes > mostBytes ? bytes : bytes * HEAP_BYTES_PER_BYTE;
}

/** @returns bytes of the largest record that is decoded, if `share` may be reserved for it */
export function largestRecord(share: number): number {
  return Math.floor(share / HEAP_BYTES_PER_BYTE);
}

/** Undefined if the record may be decoded. */
export function tooLarge(record: KafkaRecord, mostBytes: number): DecodeError | undefined {
  const bytes = bytesOf(record);
  if (bytes <= mostBytes) return undefined;
  return new DecodeError('too_large', `expected a record of at most ${mostBytes} bytes, got ${bytes}`);
}

/** Finds JSON, also faulty, that takes long to decode because of its many parts. @returns undefined if it does not */
export function tooManyParts(json: Buffer): DecodeError | undefined {
  if (json.length <= SHORT_BYTES) return undefined;
  const keys = new Set<number>();
  let parts = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === LIST || byte === OBJECT) parts += 1;
    if (parts > MAX_PARTS) return tooMany(MAX_PARTS, 'lists and objects');
    if (byte !== QUOTE) continue;
    let hash = 0;
    for (at += 1; at < json.length && json[at] !== QUOTE; at += 1) {
      if (json[at] === BACKSLASH) at += 1;
      hash = Math.imul(hash ^ (json[at] ?? 0), FNV_PRIME);
    }
    while ((json[at + 1] ?? COLON) <= SPACE) at += 1;
    if (json[at + 1] === COLON) keys.add(hash);
    if (keys.size > MAX_KEYS) return tooMany(MAX_KEYS, 'different keys');
  }
  return undefined;
}

function tooMany(most: number, what: string): DecodeError {
  return new DecodeError('too_large', `expected an event of at most ${most} ${what}, got more`);
}

/**
 * Undefined if the event may be published on so many channels: Redis, and each pod that listens to all of them, gets its
 * payload as often.
 */
export function tooWide(
  { payload }: Pick<EncodedEvent, 'payload'>,
  channels: number,
  mostBytes: number,
): DecodeError | undefined {
  // No character takes more than three bytes.
  if (payload.length * 3 * channels <= mostBytes) return undefined;
  const bytes = Buffer.byteLength(payload) * channels;
  if (bytes <= mostBytes) return undefined;
  return new DecodeError(
    'too_wide',
    `expected an event of at most ${mostBytes} bytes times channels, got ${bytes} on ${channels}`,
  );
}
