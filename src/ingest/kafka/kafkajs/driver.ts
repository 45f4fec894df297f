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
import { allTopics, describeGroup, forgetGroup, missingTopics } from './admin.ts';
import type { KafkaConnection } from '../connection.ts';
import { kafkaFactory, type KafkaFactory } from './client.ts';
import { DeadLetterProducer } from './dead-letter-producer.ts';
import { KafkajsMember } from './member.ts';
import { StartPositions } from '../start-positions.ts';
import kafkajs from '#kafkajs';
import { TokenUnavailable } from '../credentials/token-unavailable.ts';
import { TLS_REFUSED } from './socket.ts';

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

  topics(): Promise<readonly string[]> {
    return allTopics(this.#kafka());
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

/** Whether the same attempt may succeed later: not after a wrong password, a missing codec or a fault in the code. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error) || isRefused(error)) return false;
  if (error instanceof TokenUnavailable) return error.retriable;
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return true;
  if (error.cause instanceof Error) return isRetriable(error.cause);
  return error instanceof kafkajs.KafkaJSError && error.retriable;
}

/** kafkajs tries such connections again, like all others. */
function isRefused(error: Error & { readonly code?: unknown }): boolean {
  return error.code === TLS_REFUSED || (error.cause instanceof Error && isRefused(error.cause));
}
