import type { DecodeError } from '../events/decode-error.ts';
import type { KafkaRecord } from './record.ts';

/** An event as it is published: the same payload on each of its channels. */
export interface EncodedEvent {
  readonly channels: readonly string[];
  readonly payload: string;
}

/** Undefined: the graph's own `decode` has passed the record over. */
export type EncodeResult = EncodedEvent | DecodeError | undefined;

/** Undefined: the record is passed over, since it is too old, of an unknown topic, or by the graph's own `decode`. */
export type RouteResult = RoutedEvent | DecodeError | undefined;

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
  /** By the record's Kafka key, or by the event itself: then these are all of them. */
  readonly channels: readonly string[];
  /** Undefined once it has run: the decoded event is released with it. */
  #encode: (() => EncodeResult | Promise<EncodeResult>) | undefined;
  #result: EncodeResult;

  /** @param encode does the rest of the work; never throws, never rejects */
  constructor(
    record: KafkaRecord,
    channels: readonly string[],
    encode: () => EncodeResult | Promise<EncodeResult>,
  ) {
    this.record = record;
    this.channels = channels;
    this.#encode = encode;
  }

  get isEncoded(): boolean {
    return this.#encode === undefined;
  }

  /** Does the rest of the work, once. A promise only if the graph's own `decode` gives one. Never throws, never rejects. */
  encode(): EncodeResult | Promise<EncodeResult> {
    if (this.#encode === undefined) return this.#result;
    const result = this.#encode();
    if (result instanceof Promise) return result.then((settled) => this.#keep(settled));
    return this.#keep(result);
  }

  #keep(result: EncodeResult): EncodeResult {
    this.#encode = undefined;
    this.#result = result;
    return result;
  }
}
