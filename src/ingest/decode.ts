import { isUtf8 } from 'node:buffer';
import { messageOf } from '../errors.ts';
import type { Decode, Event, JsonValue } from '../events/event.ts';
import { snakeCase } from '../events/snake-case.ts';
import type { Naming } from '../formats/decoder.ts';
import { parseWithDigits } from '../formats/json-digits.ts';
import type { Shape } from '../formats/shape.ts';
import { kafkaMessage, type EventRecord } from './record.ts';
import { tooManyParts } from './record-bytes.ts';
import { DecodeError } from '../events/decode-error.ts';

/**
 * Decodes a JSON object in UTF-8.
 *
 * @param shape of the event, if the schema has scalars for numbers with all their digits
 * @throws DecodeError
 */
export function decodeJson(value: Buffer, shape?: Shape, naming: Naming = snakeCase): JsonValue {
  if (value.length === 0) throw new DecodeError('empty', 'expected a JSON object, got nothing');
  const tooMany = tooManyParts(value);
  if (tooMany !== undefined) throw tooMany;
  if (!isUtf8(value)) throw new DecodeError('invalid_utf8', 'expected UTF-8, got bytes that are not');
  try {
    const text = value.toString();
    return shape === undefined ? (JSON.parse(text) as JsonValue) : parseWithDigits(text, shape, naming);
  } catch (cause) {
    if (cause instanceof DecodeError) throw cause;
    // The parser's error message quotes the value, which may be confidential and must not get into the log.
    throw new DecodeError('not_json', 'expected JSON, got something else', { cause });
  }
}

/**
 * Runs a graph's own decode.
 *
 * @returns null if the record is to be passed over; a promise only if decode gives one
 * @throws DecodeError, or rejects with it, for anything that decode throws
 */
export function decodeWith(decode: Decode, record: EventRecord): Decoded | Promise<Decoded> {
  let result: ReturnType<Decode>;
  try {
    result = decode(kafkaMessage(record));
  } catch (cause) {
    throw decodeFailed(cause);
  }
  if (!isPromiseLike(result)) return plainJson(result);
  return Promise.resolve(result).then(plainJson, (cause: unknown) => {
    throw decodeFailed(cause);
  });
}

type Decoded = JsonValue | null;

/**
 * Converts the result of a graph's decode to what a JSON event would be: dates become text, class instances become plain
 * objects, and the copy may be changed. A value that JSON can't hold is a DecodeError.
 */
function plainJson(result: unknown): Decoded {
  if (result === null) return null;
  let text: string | undefined;
  try {
    text = JSON.stringify(result) as string | undefined;
  } catch (cause) {
    throw decodeFailed(cause);
  }
  if (text === undefined) {
    throw new DecodeError('not_an_object', `expected decode to give an object or null, got ${typeof result}`);
  }
  return JSON.parse(text) as JsonValue;
}

/** @throws DecodeError unless it is an object */
export function expectEvent(value: JsonValue): Event {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  throw new DecodeError('not_an_object', `expected an object, got ${kind}`);
}

function decodeFailed(cause: unknown): DecodeError {
  return new DecodeError('decode_failed', `the graph's decode failed: ${messageOf(cause)}`, { cause });
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
