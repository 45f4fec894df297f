import type { Log } from '../../../log.ts';
import type {
  GroupDescription,
  GroupMember,
  KafkaDriver,
  MemberOptions,
  RecordRange,
  StoppableSink,
  TakeRecords,
} from '../driver.ts';
import { describeGroup, forgetGroup, missingTopics } from './admin.ts';
import type { KafkaConnection } from '../connection.ts';
import { kafkaFactory, type KafkaFactory } from './client.ts';
import { DeadLetterProducer } from './dead-letter-producer.ts';
import { isRetriable } from './is-retriable.ts';
import { KafkajsMember } from './member.ts';
import { StartPositions } from '../start-positions.ts';

/** Real brokers, by kafkajs. */
export class KafkajsDriver implements KafkaDriver {
  readonly #kafka: KafkaFactory;
  readonly #connection: KafkaConnection;
  /** Outlives the members: a topic may be made anew between two of them. */
  readonly #starts = new StartPositions();
  #isReached = false;

  constructor(connection: KafkaConnection, log: Log) {
    this.#kafka = kafkaFactory(connection, log, () => this.#isReached);
    this.#connection = connection;
  }

  async missingTopics(wanted: readonly string[]): Promise<string[]> {
    // Until Kafka is reached, each broker is tried once: the caller tries again, and logs why none was reached.
    const retry = this.#isReached ? undefined : { retries: this.#connection.brokers.length - 1 };
    const missing = await missingTopics(this.#kafka(retry), wanted);
    this.#isReached = true;
    return missing;
  }

  forgetGroup(groupId: string): Promise<boolean> {
    return forgetGroup(this.#kafka(), groupId);
  }

  describeGroup(groupId: string, topics: readonly string[]): Promise<GroupDescription> {
    return describeGroup(this.#kafka(), groupId, topics);
  }

  member(options: MemberOptions): GroupMember {
    return new KafkajsMember(this.#kafka(), this.#connection.rack, this.#starts, options);
  }

  deadLetterSink(topic: string): StoppableSink {
    return new DeadLetterProducer(this.#kafka(), topic);
  }

  /** kafkajs does not fetch without a group: joining one would take longer than all the rest. */
  async read(
    topic: string,
    ranges: readonly RecordRange[],
    take: TakeRecords,
    signal: AbortSignal,
  ): Promise<void> {
    const { readRanges } = await import('../platformatic/read-ranges.ts');
    await readRanges(this.#connection, topic, ranges, take, signal);
  }

  isRetriable(error: unknown): boolean {
    return isRetriable(error);
  }
}
