import type { DecodeError } from '../events/decode-error.ts';
import type { TraceFields } from '../tracing/traceparent.ts';
import type { Stream, Topic } from '../graph/graph.ts';
import { amongSeveral } from '../events/message.ts';
import { placeIn, type KafkaRecord } from './record.ts';
import type { Tombstone } from './tombstone.ts';

/** An event as it is published: the same payload on each of its channels. */
export interface EncodedEvent {
  readonly channels: readonly string[];
  readonly payload: string;
}

/** Undefined: the graph's own `decode` has passed the record over. */
export type EncodeResult = EncodedEvent | DecodeError | undefined;

/** Which of an event's channels are of one of its topic's streams: each stream has as many. */
export function channelsIn(
  channels: readonly string[],
  { length }: readonly Stream[],
  index: number,
): readonly string[] {
  if (length === 1) return channels;
  const each = channels.length / length;
  return channels.slice(index * each, (index + 1) * each);
}

/** The event as it is published to one of its topic's streams. */
export function payloadIn(payload: string, stream: Stream, record: KafkaRecord): string {
  return placeIn(stream, record).m === undefined ? payload : amongSeveral(payload);
}

/** @param span that publishes the event, for the message; undefined: its trace is not sampled */
export type Encode = (span?: TraceFields) => EncodeResult | Promise<EncodeResult>;

/** Undefined: the record is passed over: it is too old, its topic is unknown, or the graph's own `decode` says so. */
export type RouteResult = RoutedEvent | Tombstone | DecodeError | undefined;

/**
 * A record whose channels are known. The rest of the work waits until one of them turns out to have subscribers. What
 * an event is called on its way in:
 *
 *     KafkaRecord ──route──► RoutedEvent ──encode──► EncodedEvent ──one for each channel──► Publication ──► bus
 *          └────────────────────┴── DecodeError ──► DeadLetter
 *
 * What the bus carries is a Message, which holds the Event.
 */
export class RoutedEvent {
  readonly record: KafkaRecord;
  /** The streams of its topic. */
  readonly streams: readonly Stream[];
  /** Stream by stream: see `route`. By the record's Kafka key, or by the event itself: only then are they complete for certain. */
  readonly channels: readonly string[];
  /** Does the rest of the work; to be called once. A promise only if the topic's decoding gives one. */
  readonly encode: Encode;

  /** Whether the event lacks a field of a key: then there may be subscribers that would have wanted it. */
  readonly lacksKey: boolean;

  /** @param encode never throws, rejects with SchemaUnavailable only */
  constructor(
    record: KafkaRecord,
    { streams }: Pick<Topic, 'streams'>,
    channels: readonly string[],
    encode: Encode,
    lacksKey = false,
  ) {
    this.record = record;
    this.streams = streams;
    this.channels = channels;
    this.encode = encode;
    this.lacksKey = lacksKey;
  }
}
