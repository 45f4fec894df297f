import type { KafkaRecord, RawHeaders } from '../record.ts';

/** The place of a record in Kafka. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A record of the dead-letter topic, read back. */
export interface Letter {
  /** Where the message that could not be decoded came from; of a bad batch, its first message. */
  readonly origin: Place;
  /** The last offset of a bad batch, as its header said. Undefined for a single message. */
  readonly lastOffset: number | undefined;
  /** The time of the message that could not be decoded, ms. Undefined: it had none, or it is a batch. */
  readonly time: number | undefined;
  /** A reason of DecodeError, or `bad_batch`. */
  readonly reason: string;
  /** If a replay sent the message: `<topic>/<partition>/<offset>` of the message that was replayed. */
  readonly replayedFrom: string | undefined;
  /** The record in the dead-letter topic. */
  readonly record: KafkaRecord;
}

/** A message to be sent to the topic that a dead letter came from. */
export interface ReplayMessage {
  /** The topic that the message came from, and below its partition. */
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: Buffer;
  readonly headers: RawHeaders;
}

/** Begins the names of all headers that Sluice adds. */
const OWN = 'sluice-';
const REPLAYED_FROM = 'sluice-replayed-from';

/** The names that Kafka allows. */
const TOPIC = /^[\w.-]{1,249}$/;
/** Anyone may write to a topic: what is printed to a terminal must not be able to control it. */
const REASON = /^\w{1,100}$/;
const PLACE = /^[\w.-]{1,249}\/\d{1,10}\/\d{1,16}$/;
const NATURAL = /^\d{1,16}$/;

/** @returns undefined for a record that the gateway has not written: one without the headers of a dead letter */
export function letterOf(record: KafkaRecord): Letter | undefined {
  const { headers } = record;
  const topic = matching(headers, 'sluice-topic', TOPIC);
  const partition = natural(headers, 'sluice-partition');
  const offset = natural(headers, 'sluice-offset');
  const reason = matching(headers, 'sluice-reason', REASON);
  if (topic === undefined || partition === undefined || offset === undefined || reason === undefined) {
    return undefined;
  }
  return {
    origin: { topic, partition, offset },
    lastOffset: natural(headers, 'sluice-last-offset'),
    time: natural(headers, 'sluice-timestamp'),
    reason,
    replayedFrom: matching(headers, REPLAYED_FROM, PLACE),
    record,
  };
}

/**
 * Returns the message as it was before it became a dead letter, with one more header that says where it was, to recognise a
 * message that fails again.
 *
 * @returns undefined for a letter without a value: that of a bad batch, or of a message that was too large with the headers
 *   of a letter
 */
export function replayOf({ origin, record }: Letter): ReplayMessage | undefined {
  const { key, value, headers = {} } = record;
  if (value === null) return undefined;
  const own = Object.entries(headers).filter(([name]) => !name.startsWith(OWN));
  return {
    topic: origin.topic,
    partition: origin.partition,
    key,
    value,
    headers: Object.fromEntries([...own, [REPLAYED_FROM, placeText(origin)]]),
  };
}

/** `<topic>/<partition>/<offset>` */
export function placeText({ topic, partition, offset }: Place): string {
  return `${topic}/${partition}/${offset}`;
}

function natural(headers: RawHeaders | undefined, name: string): number | undefined {
  const text = matching(headers, name, NATURAL);
  const number = Number(text);
  return text !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

function matching(headers: RawHeaders | undefined, name: string, pattern: RegExp): string | undefined {
  const value = headers?.[name];
  if (value === undefined || Array.isArray(value)) return undefined;
  const text = String(value);
  return pattern.test(text) ? text : undefined;
}
