import { keyChannel, topicChannel } from '../events/channel.ts';
import type { Topic } from '../graph/graph.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { KafkaRecord } from './record.ts';

/** Stands in a text for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** One in so many records of a topic is decoded although its key would do, to verify that keys are as the schema says. */
const VERIFY_EVERY = 100;

interface Options {
  /** Prefix of all channel names. */
  readonly prefix: string;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Routes records by their Kafka keys, for topics where the key holds the value of the routing field by the schema
 * (`keyFrom: KAFKA_KEY`). A schema that says so in error would lose events silently, so records that are decoded anyway are
 * compared: after the first record with a channel that does not follow from its Kafka key, all records of the topic are
 * decoded.
 */
export class KeyRouting {
  readonly #options: Options;
  /** Topics with a record whose key does not hold what the schema says. */
  readonly #mismatched = new Set<string>();
  /** Records with a key, by topic. */
  readonly #seen = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * @param key of the record, as text
   * @returns undefined if the record must be decoded to find them
   */
  channels(key: string | null, { name, kafkaKey }: Topic): readonly string[] | undefined {
    if (kafkaKey === undefined || key === null || this.#mismatched.has(name)) return undefined;
    const seen = this.#seen.get(name) ?? 0;
    this.#seen.set(name, seen + 1);
    if (seen % VERIFY_EVERY === 0 || key.includes(REPLACEMENT)) return undefined;
    const { prefix } = this.#options;
    return [topicChannel(prefix, name), keyChannel(prefix, name, kafkaKey, key)];
  }

  /** Called when the schema says something else of the topic's Kafka keys than before. */
  forget(topic: string): void {
    this.#mismatched.delete(topic);
    this.#seen.delete(topic);
  }

  /**
   * @param channels those of the event itself
   * @param key of the record, as text
   */
  compare(
    channels: readonly string[],
    key: string | null,
    { partition, offset }: KafkaRecord,
    { name, kafkaKey }: Topic,
  ): void {
    if (kafkaKey === undefined || key === null || channels.length === 1) return;
    if (key.includes(REPLACEMENT)) return;
    const { prefix, metrics, log } = this.#options;
    if (channels.length === 2 && channels[1] === keyChannel(prefix, name, kafkaKey, key)) return;
    metrics.kafkaKeyMismatches.inc({ topic: name });
    if (this.#mismatched.has(name)) return;
    this.#mismatched.add(name);
    log.error(
      { topic: name, partition, offset, field: kafkaKey },
      'a Kafka key is not what the event holds, though the schema says keyFrom: KAFKA_KEY; events of this topic may ' +
        'have been lost, and from now on each is parsed',
    );
  }
}
