import type { Log } from '../../../log.ts';
import type { GroupDescription, GroupMember, KafkaDriver, MemberOptions, StoppableSink } from '../driver.ts';
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
  readonly #rack: string | undefined;
  /** Outlives the members: a topic may be made anew between two of them. */
  readonly #starts = new StartPositions();

  constructor(connection: KafkaConnection, log: Log) {
    this.#kafka = kafkaFactory(connection, log);
    this.#rack = connection.rack;
  }

  missingTopics(wanted: readonly string[]): Promise<string[]> {
    return missingTopics(this.#kafka(), wanted);
  }

  forgetGroup(groupId: string): Promise<boolean> {
    return forgetGroup(this.#kafka(), groupId);
  }

  describeGroup(groupId: string, topics: readonly string[]): Promise<GroupDescription> {
    return describeGroup(this.#kafka(), groupId, topics);
  }

  member(options: MemberOptions): GroupMember {
    return new KafkajsMember(this.#kafka(), this.#rack, this.#starts, options);
  }

  deadLetterSink(topic: string): StoppableSink {
    return new DeadLetterProducer(this.#kafka(), topic);
  }

  isRetriable(error: unknown): boolean {
    return isRetriable(error);
  }
}
