import { messageOf } from '../errors.ts';
import type { JsonValue, Topic } from '../graph/graph.ts';
import type { Metrics } from '../metrics.ts';
import { decodeJson, decodeWith, expectEvent } from './decode.ts';
import { encodeMessage } from './message.ts';
import type { Publication } from './publisher.ts';
import type { KafkaRecord } from './record.ts';
import { route } from './route.ts';
import { checkKeys } from './safe-keys.ts';
import { SnakeCase } from './snake-case.ts';
import { Undecodable } from './undecodable.ts';

/** What becomes of a message: its publications (none: passed over), or why there are none. */
export type Outcome = readonly Publication[] | Undecodable;

export interface PipelineOptions {
  readonly topics: ReadonlyMap<string, Topic>;
  /** What the names of channels begin with. */
  readonly prefix: string;
  /** Events older than this are skipped; 0: none is too old. */
  readonly maxAgeSeconds: number;
  readonly metrics: Metrics;
  /** ms */
  readonly now: () => number;
}

const NOTHING: readonly Publication[] = [];

/** The way of one message from Kafka's bytes to what is published: decode, snake_case, route, encode. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #maxAge: number;
  readonly #snakeCase = new SnakeCase();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#maxAge = options.maxAgeSeconds * 1_000;
  }

  /** Never throws, never rejects. A promise only if the topic's own decode gives one. */
  process(record: KafkaRecord): Outcome | Promise<Outcome> {
    const topic = this.#options.topics.get(record.topic);
    if (topic === undefined) return NOTHING;
    const consumed = this.#options.now();
    if (this.#maxAge > 0 && record.timestamp >= 0 && consumed - record.timestamp > this.#maxAge) {
      this.#options.metrics.staleEvents.inc({ topic: topic.name });
      return NOTHING;
    }
    try {
      const decoded = decode(topic, record);
      if (!(decoded instanceof Promise)) return this.#publications(decoded, topic, record, consumed);
      return decoded
        .then((value) => this.#publications(value, topic, record, consumed))
        .catch((thrown: unknown) => undecodable(thrown));
    } catch (thrown) {
      return undecodable(thrown);
    }
  }

  #publications(
    decoded: JsonValue | null,
    topic: Topic,
    record: KafkaRecord,
    consumed: number,
  ): readonly Publication[] {
    if (decoded === null && topic.decode !== undefined) return NOTHING;
    let event = expectEvent(decoded);
    if (topic.keyStyle === 'SNAKE') event = this.#snakeCase.transform(event);
    else checkKeys(event);
    const channels = route(event, topic, this.#options.prefix);
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
    return channels.map((channel) => ({ channel, payload }));
  }
}

function decode(topic: Topic, record: KafkaRecord): JsonValue | null | Promise<JsonValue | null> {
  const { value } = record;
  if (value === null) throw new Undecodable('tombstone', 'expected an event, got a tombstone');
  return topic.decode === undefined ? decodeJson(value) : decodeWith(topic.decode, value, record);
}

/** Anything else than Undecodable is a fault of ours, and still hurts this message only. */
function undecodable(thrown: unknown): Undecodable {
  return thrown instanceof Undecodable
    ? thrown
    : new Undecodable('decode_failed', messageOf(thrown), { cause: thrown });
}
