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

/**
 * Takes the event out of its envelope.
 *
 * @param value decoded
 * @throws DecodeError if there is no such envelope
 */
export function openEnvelope(
  value: JsonValue,
  envelope: EnvelopeName,
  headers: RawHeaders | undefined,
): Opened {
  if (envelope === 'DEBEZIUM') return openChange(value);
  if (envelope === 'CLOUDEVENTS') return openCloudEvent(value, headers);
  return { event: value, whole: value };
}

/** Debezium's operations: created, updated, read by a snapshot. */
const WITH_ROW: ReadonlySet<unknown> = new Set(['c', 'u', 'r']);
const DELETED = 'd';
const WITHOUT_ROW: ReadonlySet<unknown> = new Set(['t', 'm']);

function openChange(value: JsonValue): Opened {
  // The JSON converter puts the schema beside the payload, unless it is told not to.
  const isWithSchema = isObject(value) && 'payload' in value && 'schema' in value && !('op' in value);
  const change = isWithSchema ? (value['payload'] ?? null) : value;
  if (!isObject(change)) throw noEnvelope('a change of Debezium', change);
  const { op, after } = change;
  if (WITH_ROW.has(op) && isObject(after)) return { event: { ...after }, whole: change };
  if (op === DELETED) return 'deleted';
  if (WITHOUT_ROW.has(op)) return 'by_envelope';
  // Heartbeats have a time alone; transactions have a status and an id.
  if (op === undefined && !('before' in change) && ('ts_ms' in change || 'status' in change))
    return 'by_envelope';
  throw noEnvelope('a change of Debezium with op and after', change);
}

const STRUCTURED = 'application/cloudevents+json';
const ATTRIBUTE = /^ce_([a-z0-9]+)$/;

function openCloudEvent(value: JsonValue, headers: RawHeaders | undefined): Opened {
  const type = textOf(headers, 'content-type') ?? '';
  const isStructured = type.startsWith(STRUCTURED) || (isObject(value) && 'specversion' in value);
  if (isStructured) {
    if (!isObject(value)) throw noEnvelope('a CloudEvent', value);
    const data = value['data'] ?? dataIn(value['data_base64']);
    if (!isObject(data)) throw noEnvelope('a CloudEvent with an object as data', data);
    return { event: { ...data }, whole: value };
  }
  const whole: Event = { data: value };
  for (const name of Object.keys(headers ?? {})) {
    const attribute = ATTRIBUTE.exec(name)?.[1];
    const text = attribute === undefined ? undefined : textOf(headers, name);
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

function dataIn(base64: JsonValue | undefined): JsonValue {
  if (typeof base64 !== 'string') return null;
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString()) as JsonValue;
  } catch {
    return null;
  }
}

function isObject(value: JsonValue | undefined): value is Event {
  return isRecord(value);
}

/** The last value of a header. */
export function textOf(headers: RawHeaders | undefined, name: string): string | undefined {
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
