import { randomUUID } from 'node:crypto';
import type { Config } from '../../../config/settings.ts';
import type { Log } from '../../../log.ts';
import type { DeadLetterKafka, ReplaySink, TopicReader } from '../../dead-letters/kafka.ts';
import { missingTopics, topicRanges } from './admin.ts';
import type { KafkaConnection } from '../connection.ts';
import { kafkaFactory, type KafkaFactory } from './client.ts';
import { ReplayProducer } from './replay-producer.ts';
import { KafkajsTopicReader } from './topic-reader.ts';

type DeadLetterKafkaSettings = Pick<Config, 'KAFKA_GROUP_ID' | 'KAFKA_SESSION_TIMEOUT_MS'>;

/** Real brokers, for the commands on dead letters. */
export class KafkajsDeadLetterKafka implements DeadLetterKafka {
  readonly #kafka: KafkaFactory;
  readonly #settings: DeadLetterKafkaSettings;
  readonly #log: Log;

  constructor(connection: KafkaConnection, settings: DeadLetterKafkaSettings, log: Log) {
    this.#kafka = kafkaFactory(connection, log);
    this.#settings = settings;
    this.#log = log;
  }

  missingTopics(wanted: readonly string[]): Promise<string[]> {
    return missingTopics(this.#kafka(), wanted);
  }

  async open(topic: string, from: ReadonlyMap<number, number>): Promise<TopicReader> {
    const ranges = await topicRanges(this.#kafka(), topic, from);
    const { KAFKA_GROUP_ID, KAFKA_SESSION_TIMEOUT_MS } = this.#settings;
    const reader = new KafkajsTopicReader(this.#kafka(), topic, {
      ranges,
      // A group without members and positions is forgotten by the broker.
      groupId: `${KAFKA_GROUP_ID}-dead-letters-${randomUUID()}`,
      sessionTimeoutMs: KAFKA_SESSION_TIMEOUT_MS,
      log: this.#log,
    });
    try {
      await reader.start();
    } catch (thrown) {
      await reader.close();
      throw thrown;
    }
    return reader;
  }

  replaySink(): ReplaySink {
    return new ReplayProducer(this.#kafka(), (wanted) => this.missingTopics(wanted));
  }
}
