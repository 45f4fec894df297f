import type { Consumer, Kafka } from '#kafkajs';
import type { Assignment, GroupMember, MemberOptions, PartitionPosition } from '../driver.ts';
import { KafkajsPositions } from './positions.ts';
import { KafkajsBatch } from './record-batch.ts';
import type { StartPositions } from '../start-positions.ts';

/**
 * kafkajs makes objects of a whole fetch at once, and they outlive the young generation while chunk after chunk is
 * published: with its default of 1 MiB an event takes 15 % more CPU. A single message may be larger.
 */
const FETCHED_BYTES = 256 * 1024;

/** A consumer of kafkajs. */
export class KafkajsMember implements GroupMember {
  readonly #options: MemberOptions;
  readonly #consumer: Consumer;
  readonly #starts: StartPositions;
  readonly #positions: KafkajsPositions;
  #generation = 0;
  #joining: Promise<void> | undefined;
  #assigned: Assignment = {};
  #isConsuming = false;
  #isJoined = false;
  /** When the last heartbeat request that was answered was sent: ms since 1970. */
  #beatAt = -Infinity;
  confirmedAt = -Infinity;
  #stopped = false;

  /** @param rack of the pod; undefined: the member fetches from leaders */
  constructor(kafka: Kafka, rack: string | undefined, starts: StartPositions, options: MemberOptions) {
    this.#options = options;
    this.#starts = starts;
    this.#positions = new KafkajsPositions(starts, options);
    const { timing, groupId } = options;
    this.#consumer = kafka.consumer({
      groupId,
      allowAutoTopicCreation: false,
      ...(rack !== undefined && { rackId: rack }),
      sessionTimeout: timing.sessionTimeoutMs,
      heartbeatInterval: timing.heartbeatMs,
      rebalanceTimeout: timing.rebalanceTimeoutMs,
      maxWaitTimeInMs: timing.fetchWaitMs,
      metadataMaxAge: timing.metadataMaxAgeMs,
      maxBytesPerPartition: FETCHED_BYTES,
      // Does not restart after any error: KafkaSource replaces a crashed consumer.
      retry: { retries: 5, restartOnFailure: () => Promise.resolve(false) },
    });
  }

  async run(): Promise<Error> {
    const { topics, onAssigned, onAnswer, onBatch } = this.#options;
    const { CRASH, GROUP_JOIN, HEARTBEAT, REBALANCING, REQUEST } = this.#consumer.events;
    const crash = new Promise<Error>((resolve) => {
      this.#consumer.on(CRASH, ({ payload }) => resolve(payload.error));
    });
    this.#consumer.on(REQUEST, ({ payload: { apiName, sentAt } }) => {
      if (apiName === 'Heartbeat') this.#beatAt = sentAt;
      onAnswer();
    });
    this.#consumer.on(HEARTBEAT, () => (this.confirmedAt = this.#beatAt));
    this.#consumer.on(REBALANCING, () => (this.#isJoined = false));
    // Called during the join, before anything is fetched.
    this.#consumer.on(GROUP_JOIN, ({ payload }) => {
      this.#generation += 1;
      this.#isJoined = true;
      this.confirmedAt = Date.now();
      onAssigned(payload.memberAssignment);
      this.#assigned = payload.memberAssignment;
      // At the first join kafkajs takes no commits yet.
      if (this.#isConsuming) this.#nameBus();
    });
    await this.#consumer.connect();
    if (this.#stopped) return crash;
    await this.#consumer.subscribe({ topics: [...topics], fromBeginning: false });
    if (this.#stopped) return crash;
    this.#joining = this.#consumer.run({
      autoCommit: false,
      positionPolicy: this.#positions,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => {
        const generation = this.#generation;
        const { topic, partition } = payload.batch;
        const topicId = this.#starts.topicId(topic);
        const resets = this.#positions.resets(topic, partition);
        return onBatch(new KafkajsBatch(payload, { topicId, resets }, () => generation === this.#generation));
      },
    });
    await this.#joining;
    this.#isConsuming = true;
    this.#nameBus();
    return crash;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    // kafkajs forgets a stop that comes while it joins, and would consume for ever.
    await this.#joining?.catch(() => undefined);
    await this.#consumer.disconnect().catch(() => undefined); // which kafkajs has logged
  }

  positions(wanted?: string): readonly PartitionPosition[] {
    const all = this.#isJoined ? this.#consumer.positions() : [];
    const positions = all.filter(({ topic }) => wanted === undefined || topic === wanted);
    return positions.map(({ topic, partition, offset, highWatermark }) => ({
      topic,
      partition,
      topicId: this.#starts.topicId(topic),
      resets: this.#positions.resets(topic, partition),
      partitions: this.#positions.partitions(topic),
      leaderEpoch: this.#positions.leaderEpoch(topic, partition),
      position: Number(offset),
      highWatermark: highWatermark === null ? undefined : Number(highWatermark),
    }));
  }

  /**
   * Commits positions again to name the bus, before any fetched record is committed: requests to one broker go over one
   * connection, in order. If it fails, the next join does it.
   */
  #nameBus(): void {
    const unnamed = this.#positions.takeUnnamed();
    const own = unnamed.filter(({ topic, partition }) => this.#assigned[topic]?.includes(partition));
    if (own.length > 0) this.#consumer.commitOffsets(own).catch(() => undefined);
  }
}
