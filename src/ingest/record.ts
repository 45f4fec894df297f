import { partitionIn } from '../events/in-stream.ts';
import type { EventSource } from '../events/publisher.ts';
import type { Stream } from '../graph/graph.ts';
import type { Headers, KafkaMessage } from '../events/event.ts';

type HeaderValue = Buffer | string;

/** Headers as they came. */
export type RawHeaders = Readonly<Record<string, HeaderValue | HeaderValue[] | undefined>>;

/** One Kafka record: what producers and kafkajs call a message. */
export interface KafkaRecord {
  readonly topic: string;
  /** Kafka's id of the topic: a topic that is made anew under the same name has another id. Undefined: not known. */
  readonly topicId: string | undefined;
  readonly partition: number;
  readonly offset: number;
  /** Distinguishes the record from others of the same offset: see logEpoch. Undefined: its batch has no leader epoch. */
  readonly epoch: number | undefined;
  /** ms; negative if the message has none. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RawHeaders | undefined;
}

/** A record that is no tombstone, Kafka's mark for a deleted key. */
export interface EventRecord extends KafkaRecord {
  readonly value: Buffer;
}

export function hasValue(record: KafkaRecord): record is EventRecord {
  return record.value !== null;
}

export function sourceOf(record: KafkaRecord, stream: Stream): EventSource {
  const { topicId, offset, epoch } = record;
  const { t, m } = placeIn(stream, record);
  return { topicId, partition: partitionIn({ t, m, p: record.partition }), offset, epoch };
}

/** See Message. */
export function placeIn({ name }: Stream, { topic }: KafkaRecord): { readonly t: string; readonly m?: 1 } {
  return name === topic ? { t: topic } : { t: topic, m: 1 };
}

/** The record as a graph's own decode sees it. */
export function kafkaMessage(record: EventRecord): KafkaMessage {
  const { topic, partition, offset, timestamp, key, value, headers } = record;
  return { value, key, headers: headersOf(headers), topic, partition, offset, timestamp };
}

function headersOf(raw: RawHeaders | undefined): Headers {
  const headers: Record<string, string | readonly string[]> = Object.create(null) as Record<string, never>;
  for (const [name, value] of Object.entries(raw ?? {})) {
    if (value === undefined) continue;
    headers[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return headers;
}
