import kafkajs, { type Consumer, type IMemberAssignment, type Kafka } from 'kafkajs';
import type { KafkaBatch } from './kafka-batch.ts';

export interface GroupTiming {
  /** A member without a heartbeat for so long loses its partitions. */
  readonly sessionTimeoutMs: number;
  readonly heartbeatMs: number;
  /** How long a rebalance waits for members to join again. */
  readonly rebalanceTimeoutMs: number;
  /** How long a broker holds a fetch while there is nothing to fetch. A stop and a rebalance wait for it. */
  readonly fetchWaitMs: number;
}

/** All but the session timeout, which is a setting. */
export const GROUP_TIMING: Omit<GroupTiming, 'sessionTimeoutMs'> = {
  heartbeatMs: 1_000,
  rebalanceTimeoutMs: 30_000,
  fetchWaitMs: 500,
};

interface Options {
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly timing: GroupTiming;
  readonly eachBatch: (batch: KafkaBatch) => Promise<void>;
  /** The member has joined, and where it starts in each of its partitions is settled and committed. */
  readonly onJoin: (assignment: IMemberAssignment) => void;
}

/**
 * kafkajs makes objects of all that a fetch brings at once, and they outlive young generations while chunk after chunk
 * is published: with its default of 1 MiB an event takes 15 % more CPU. A single message may be larger.
 */
const FETCHED_BYTES = 256 * 1024;

/** One member of a consumer group, from connecting to a crash or a stop. It is not used again after either. */
export class GroupConsumer {
  readonly #options: Options;
  readonly #consumer: Consumer;
  #joining: Promise<void> | undefined;
  #stopped = false;

  constructor(kafka: Kafka, options: Options) {
    this.#options = options;
    const { timing, groupId } = options;
    this.#consumer = kafka.consumer({
      groupId,
      allowAutoTopicCreation: false,
      sessionTimeout: timing.sessionTimeoutMs,
      heartbeatInterval: timing.heartbeatMs,
      rebalanceTimeout: timing.rebalanceTimeoutMs,
      maxWaitTimeInMs: timing.fetchWaitMs,
      maxBytesPerPartition: FETCHED_BYTES,
      // For every error: KafkaSource replaces a crashed consumer.
      retry: { retries: 5, restartOnFailure: () => Promise.resolve(false) },
    });
  }

  /**
   * Runs until a crash.
   *
   * @returns what it crashed of; stays pending after a stop
   */
  async run(): Promise<Error> {
    const { topics, eachBatch, onJoin } = this.#options;
    const { CRASH, GROUP_JOIN } = this.#consumer.events;
    const crash = new Promise<Error>((resolve) => {
      this.#consumer.on(CRASH, ({ payload }) => resolve(payload.error));
    });
    // Called in the course of the join, before anything is fetched.
    this.#consumer.on(GROUP_JOIN, ({ payload }) => onJoin(payload.memberAssignment));
    await this.#consumer.connect();
    if (this.#stopped) return crash;
    await this.#consumer.subscribe({ topics: [...topics], fromBeginning: false });
    if (this.#stopped) return crash;
    this.#joining = this.#consumer.run({
      autoCommit: false,
      commitResolvedOffsets: true,
      eachBatchAutoResolve: false,
      eachBatch,
    });
    await this.#joining;
    return crash;
  }

  /** Waits for the batch being processed, leaves the group and disconnects. */
  async stop(): Promise<void> {
    this.#stopped = true;
    // kafkajs forgets a stop that comes while it joins, and would consume for ever.
    await this.#joining?.catch(() => undefined);
    await this.#consumer.disconnect().catch(() => undefined); // which kafkajs has logged
  }
}

/** Whether the same attempt may succeed later: not after a wrong password, a missing codec or a fault in the code. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return true;
  if (error.cause instanceof Error) return isRetriable(error.cause);
  return error instanceof kafkajs.KafkaJSError && error.retriable;
}
