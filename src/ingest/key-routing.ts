import { isUtf8 } from 'node:buffer';
import { keyChannel, topicChannel } from '../events/channel.ts';
import type { Topic } from '../graph/graph.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { KafkaRecord } from './record.ts';

/** One message in so many of a topic is parsed although its key would do: can the key be believed? */
const PROBED = 100;

interface Options {
  /** What the names of channels begin with. */
  readonly prefix: string;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Channels by Kafka keys, for topics of which the schema says that the key holds the value of the routing field
 * (`keyFrom: KAFKA_KEY`). Who says so in error would lose events without a word, so events that are parsed anyway are
 * compared: after the first one that has a channel which its Kafka key did not tell, the topic is not believed any more.
 */
export class KeyRouting {
  readonly #options: Options;
  readonly #disbelieved = new Set<string>();
  /** Messages with a key, by topic. */
  readonly #seen = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** @returns undefined where the event itself has to be looked at */
  channels({ key }: KafkaRecord, { name, kafkaKey }: Topic): readonly string[] | undefined {
    if (kafkaKey === undefined || key === null || this.#disbelieved.has(name)) return undefined;
    const seen = this.#seen.get(name) ?? 0;
    this.#seen.set(name, seen + 1);
    if (seen % PROBED === 0 || !isUtf8(key)) return undefined;
    const { prefix } = this.#options;
    return [topicChannel(prefix, name), keyChannel(prefix, name, kafkaKey, key.toString())];
  }

  /** @param channels those of the event itself */
  compare(channels: readonly string[], record: KafkaRecord, { name, kafkaKey }: Topic): void {
    const { key, partition, offset } = record;
    if (kafkaKey === undefined || key === null || channels.length === 1 || !isUtf8(key)) return;
    const { prefix, metrics, log } = this.#options;
    if (channels.length === 2 && channels[1] === keyChannel(prefix, name, kafkaKey, key.toString())) return;
    metrics.kafkaKeyMismatches.inc({ topic: name });
    if (this.#disbelieved.has(name)) return;
    this.#disbelieved.add(name);
    log.error(
      { topic: name, partition, offset, field: kafkaKey },
      'a Kafka key is not what the event holds, though the schema says keyFrom: KAFKA_KEY; events of this topic may ' +
        'have been lost, and from now on each is parsed',
    );
  }
}
