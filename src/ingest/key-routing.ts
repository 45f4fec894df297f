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
  channels(key: string | null, topic: Topic): readonly string[] | undefined {
    const { name, kafkaKey } = topic;
    if (kafkaKey === undefined || key === null || this.#mismatched.has(name)) return undefined;
    const seen = this.#seen.get(name) ?? 0;
    this.#seen.set(name, seen + 1);
    if (seen % VERIFY_EVERY === 0 || key.includes(REPLACEMENT)) return undefined;
    return this.#channelsBy(key, kafkaKey, topic);
  }

  #channelsBy(key: string, kafkaKey: string, { streams }: Topic): string[] {
    const { prefix } = this.#options;
    const channels: string[] = [];
    for (const { name } of streams)
      channels.push(topicChannel(prefix, name), keyChannel(prefix, name, kafkaKey, key));
    return channels;
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
    topic: Topic,
  ): void {
    const { name, kafkaKey, streams } = topic;
    if (kafkaKey === undefined || key === null || channels.length === streams.length) return;
    if (key.includes(REPLACEMENT)) return;
    const { metrics, log } = this.#options;
    const expected = this.#channelsBy(key, kafkaKey, topic);
    if (channels.length === expected.length && channels.every((one, index) => one === expected[index]))
      return;
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
