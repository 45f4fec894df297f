import { messageOf } from '../errors.ts';
import type { Topic } from '../graph/graph.ts';
import type { Event, JsonValue } from '../events/event.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { RoutedEvent, EncodeResult } from './routed-event.ts';
import { decodeJson, decodeWith, expectEvent } from './decode.ts';
import { KeyRouting } from './key-routing.ts';
import { encodeMessage } from '../events/message.ts';
import type { KafkaRecord } from './record.ts';
import { route } from './route.ts';
import { checkKeys } from '../events/safe-keys.ts';
import { SnakeCase } from '../events/snake-case.ts';
import { DecodeError } from '../events/decode-error.ts';

/** What becomes of a message: a candidate for publishing, nothing (passed over), or why it can't become an event. */
export type RouteResult = RoutedEvent | undefined | DecodeError;

export interface PipelineOptions {
  readonly topics: ReadonlyMap<string, Topic>;
  /** What the names of channels begin with. */
  readonly prefix: string;
  /** Events older than this are skipped; 0: none is too old. */
  readonly maxAgeSeconds: number;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms */
  readonly now: () => number;
}

/** A message with what is known of it from the outside. */
interface Arrival {
  readonly record: KafkaRecord;
  readonly topic: Topic;
  /** ms */
  readonly consumed: number;
}

/**
 * The way of one message from Kafka's bytes to what is published, in two parts. Between them somebody finds out
 * whether anyone is subscribed:
 *
 *     process: decode ──► route ──► candidate          open: snake_case ──► encode
 *     process: Kafka key ─────────► candidate          open: decode ──► route ──► snake_case ──► encode
 *
 * So whatever is no JSON object is found in any case (unless the Kafka key is enough), and what is refused inside of
 * it (nesting, keys that could pollute) only where somebody would have been sent it.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #maxAge: number;
  readonly #snakeCase = new SnakeCase();
  readonly #kafkaKeys: KeyRouting;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#maxAge = options.maxAgeSeconds * 1_000;
    this.#kafkaKeys = new KeyRouting(options);
  }

  /** Never throws, never rejects. A promise only if the topic's own decode gives one. */
  process(record: KafkaRecord): RouteResult | Promise<RouteResult> {
    const topic = this.#options.topics.get(record.topic);
    if (topic === undefined) return undefined;
    const consumed = this.#options.now();
    if (this.#maxAge > 0 && record.timestamp >= 0 && consumed - record.timestamp > this.#maxAge) {
      this.#options.metrics.staleEvents.inc({ topic: topic.name });
      return undefined;
    }
    const arrival: Arrival = { record, topic, consumed };
    const channels = this.#kafkaKeys.channels(record, topic);
    if (channels === undefined) return this.#decode(arrival);
    return { channels, encode: () => opened(this.#decode(arrival)) };
  }

  #decode(arrival: Arrival): RouteResult | Promise<RouteResult> {
    try {
      const decoded = decode(arrival);
      if (!(decoded instanceof Promise)) return this.#route(decoded, arrival);
      return decoded
        .then((value) => this.#route(value, arrival))
        .catch((thrown: unknown) => undecodable(thrown));
    } catch (thrown) {
      return undecodable(thrown);
    }
  }

  /** @throws Undecodable */
  #route(decoded: JsonValue | null, arrival: Arrival): RoutedEvent | undefined {
    const { record, topic } = arrival;
    if (decoded === null && topic.decode !== undefined) return undefined;
    const event = expectEvent(decoded);
    // Routed by what the keys will be called, so that nothing else has to be renamed for it.
    const named = topic.keyStyle === 'SNAKE' ? this.#snakeCase.pick(event, topic.keys) : event;
    const channels = route(named, topic, this.#options.prefix);
    this.#kafkaKeys.compare(channels, record, topic);
    return { channels, encode: () => this.#encode(event, channels, arrival) };
  }

  #encode(decoded: Event, channels: readonly string[], { record, topic, consumed }: Arrival): EncodeResult {
    try {
      const event = this.#checked(decoded, topic);
      const payload = encodeMessage({
        v: 1,
        t: topic.name,
        p: record.partition,
        o: record.offset,
        ts: record.timestamp,
        in: consumed,
        key: record.key === null ? null : record.key.toString(),
        event,
      });
      return { channels, payload };
    } catch (thrown) {
      return undecodable(thrown);
    }
  }

  /** @throws Undecodable */
  #checked(event: Event, { keyStyle }: Topic): Event {
    if (keyStyle === 'SNAKE') return this.#snakeCase.transform(event);
    checkKeys(event);
    return event;
  }
}

function opened(outcome: RouteResult | Promise<RouteResult>): EncodeResult | Promise<EncodeResult> {
  if (outcome instanceof Promise) return outcome.then(opened);
  return outcome === undefined || outcome instanceof DecodeError ? outcome : outcome.encode();
}

function decode({ record, topic }: Arrival): JsonValue | null | Promise<JsonValue | null> {
  const { value } = record;
  if (value === null) throw new DecodeError('tombstone', 'expected an event, got a tombstone');
  return topic.decode === undefined ? decodeJson(value) : decodeWith(topic.decode, value, record);
}

/** Anything else than Undecodable is a fault of ours, and still hurts this message only. */
function undecodable(thrown: unknown): DecodeError {
  return thrown instanceof DecodeError
    ? thrown
    : new DecodeError('decode_failed', messageOf(thrown), { cause: thrown });
}
