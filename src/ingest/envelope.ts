import { DecodeError } from '../events/decode-error.ts';
import type { Event, JsonValue } from '../events/event.ts';
import type { EnvelopeName } from '../graph/graph.ts';
import { isRecord } from '../support/kind-of.ts';
import type { RawHeaders } from './record.ts';

/** A message whose envelope has been opened. */
export type Opened =
  | {
      readonly event: JsonValue;
      /** What fields with `@from(path:)` are read of. */
      readonly whole: JsonValue;
    }
  /** The row is deleted: the message is a tombstone of its key. */
  | 'deleted'
  /** The message is about no row: a heartbeat, the bounds of a transaction, a table that is emptied. */
  | 'by_envelope';

/** Decodes a value within a value: `path` is where it is, for its shape. @throws DecodeError */
type DecodeWithin = (json: Buffer, path: string) => JsonValue;

/**
 * Takes the event out of its envelope.
 *
 * @param value decoded
 * @param decode for JSON within the value
 * @throws DecodeError if there is no such envelope
 */
export function openEnvelope(
  value: JsonValue,
  envelope: Exclude<EnvelopeName, 'NONE'>,
  headers: RawHeaders | undefined,
  decode: DecodeWithin,
): Opened {
  return envelope === 'DEBEZIUM' ? openChange(value, decode) : openCloudEvent(value, headers, decode);
}

/** Debezium's operations: created, updated, read by a snapshot. */
const WITH_ROW: ReadonlySet<unknown> = new Set(['c', 'u', 'r']);
const DELETED = 'd';
const WITHOUT_ROW: ReadonlySet<unknown> = new Set(['t', 'm']);

/** Fields of heartbeats, and of the bounds of a transaction, which have `status` and `id`. */
const OF_HEARTBEAT: ReadonlySet<string> = new Set(['ts_ms', 'ts_us', 'ts_ns']);
const OF_TRANSACTION: ReadonlySet<string> = new Set([
  ...OF_HEARTBEAT,
  'status',
  'id',
  'event_count',
  'data_collections',
]);

function openChange(value: JsonValue, decode: DecodeWithin): Opened {
  // The JSON converter puts the schema beside the payload, unless it is told not to.
  const isWithin = isObject(value) && isObject(value['payload']) && !('op' in value);
  const change = isWithin ? (value['payload'] ?? null) : value;
  if (!isObject(change)) throw noEnvelope('a change of Debezium', change);
  const { op } = change;
  // The connector of MongoDB writes documents as text.
  const after =
    typeof change['after'] === 'string' ? decode(Buffer.from(change['after']), 'after') : change['after'];
  if (WITH_ROW.has(op) && isObject(after)) return { event: { ...after }, whole: { ...change, after } };
  if (op === DELETED) return 'deleted';
  if (WITHOUT_ROW.has(op) || isOfConnector(change)) return 'by_envelope';
  throw noEnvelope('a change of Debezium with op and after', change);
}

/** Whether it is a heartbeat, or the begin or the end of a transaction. */
function isOfConnector(change: Event): boolean {
  const names = Object.keys(change);
  if (!('ts_ms' in change)) return false;
  if (names.every((name) => OF_HEARTBEAT.has(name))) return true;
  return 'status' in change && 'id' in change && names.every((name) => OF_TRANSACTION.has(name));
}

const STRUCTURED = 'application/cloudevents+json';
const ATTRIBUTE = /^ce_([a-z0-9]+)$/;

function openCloudEvent(value: JsonValue, headers: RawHeaders | undefined, decode: DecodeWithin): Opened {
  const type = headerText(headers, 'content-type') ?? '';
  const isStructured = type.startsWith(STRUCTURED) || (isObject(value) && 'specversion' in value);
  if (isStructured) {
    if (!isObject(value)) throw noEnvelope('a CloudEvent', value);
    const data = value['data'] ?? dataIn(value['data_base64'], decode);
    if (!isObject(data)) throw noEnvelope('a CloudEvent with an object as data', data);
    return { event: { ...data }, whole: value };
  }
  const whole: Event = { data: value };
  for (const name of Object.keys(headers ?? {})) {
    const attribute = ATTRIBUTE.exec(name)?.[1];
    const text = attribute === undefined ? undefined : headerText(headers, name);
    if (attribute !== undefined && text !== undefined) whole[attribute] = text;
  }
  if (whole['specversion'] === undefined) {
    throw new DecodeError(
      'malformed',
      'expected a CloudEvent: headers ce_specversion and others, or a value with specversion',
    );
  }
  return { event: isObject(value) ? { ...value } : value, whole };
}

function dataIn(base64: JsonValue | undefined, decode: DecodeWithin): JsonValue {
  return typeof base64 === 'string' ? decode(Buffer.from(base64, 'base64'), 'data') : null;
}

function isObject(value: JsonValue | undefined): value is Event {
  return isRecord(value);
}

/** The last value of a header. */
export function headerText(headers: RawHeaders | undefined, name: string): string | undefined {
  const found = headers?.[name];
  const last = Array.isArray(found) ? found.at(-1) : found;
  return last === undefined ? undefined : String(last);
}

function noEnvelope(expected: string, value: JsonValue | undefined): DecodeError {
  const came = isObject(value)
    ? `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'no fields'}`
    : typeof value;
  return new DecodeError('malformed', `expected ${expected}, got ${came}`);
}
