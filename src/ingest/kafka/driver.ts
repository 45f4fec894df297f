import type { DeadLetterSink } from '../dead-letter.ts';
import type { KafkaRecord } from '../record.ts';

/**
 * All that the gateway asks of a Kafka client. What is in this folder beside `kafkajs`, `platformatic` and `credentials`
 * knows no more of Kafka than this, so that another client, or a simulated Kafka, is one more implementation;
 * `test/contract/kafka-driver.ts` says what each must do.
 */
export interface KafkaDriver {
  /** The topics that do not exist, or that this user may not describe. Creates none. */
  missingTopics(wanted: readonly string[]): Promise<readonly string[]>;

  /**
   * Deletes a group, and with it its committed offsets, if it has no live members.
   *
   * @returns whether the group is now without offsets
   */
  forgetGroup(groupId: string): Promise<boolean>;

  /** What may be known of a group before it is joined. @param topics whose positions are read */
  describeGroup(groupId: string, topics: readonly string[]): Promise<GroupDescription>;

  /** A member that has yet to run. */
  member(options: MemberOptions): GroupMember;

  /** Writes to a topic. Connects with the first message. */
  deadLetterSink(topic: string): StoppableSink;

  /**
   * Reads records of a topic once more, without a group: one range after the other, each in order.
   *
   * @throws if the log does not hold all of a range any more, or holds others in place of those before it; if a batch can't
   *   be decoded, or the signal aborts
   */
  read(topic: string, ranges: readonly RecordRange[], take: TakeRecords, signal: AbortSignal): Promise<void>;

  /** Whether the same attempt may succeed later: not after a wrong password or a fault in the code. */
  isRetriable(error: unknown): boolean;
}

/** Which log offsets belong to. */
export interface LogName {
  /** Undefined: brokers before 2.8 have none. */
  readonly topicId: string | undefined;
  /** How often the group's position was reset: see PositionText. */
  readonly resets: number;
}

/** Records of one partition. */
export interface RecordRange extends LogName {
  readonly partition: number;
  /** The leader epoch of the record before `from`. Undefined: not known. */
  readonly leaderEpoch: number | undefined;
  readonly from: number;
  /** The offset behind the last one. */
  readonly until: number;
}

/** Called with records as they come. No more are read until it resolves. */
export type TakeRecords = (records: readonly KafkaRecord[]) => Promise<void>;

export interface GroupDescription {
  /** Also where this client can't tell. */
  readonly hasMembers: boolean;
  /** What went with the commit of each position that the group has on these topics. */
  readonly texts: readonly (string | null)[];
}

export interface StoppableSink extends DeadLetterSink {
  stop(): Promise<void>;
}

/** One member of a consumer group, from connecting to a crash or a stop. It is not used again after either. */
export interface GroupMember {
  /**
   * Joins and consumes until a crash: an error that is of no single partition. Rebalances, and brokers that are away for a
   * while, are no crash. May also reject with what it crashed of.
   *
   * @returns what it crashed of; stays pending after a stop
   */
  run(): Promise<Error>;

  /** Waits for the batch being processed, leaves the group and disconnects; never rejects. */
  stop(): Promise<void>;

  /** When the heartbeat was sent by whose answer the group has last confirmed that this is its member: ms since 1970. */
  readonly confirmedAt: number;

  /** One for each assigned partition; none before the first join, and while it joins again. @param topic undefined: of all */
  positions(topic?: string): readonly PartitionPosition[];
}

export interface MemberOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /** The id of the bus that is published to, which goes with each commit. Undefined: none is known. */
  readonly bus?: string | undefined;
  readonly timing: GroupTiming;
  /**
   * Called for one batch of a member at a time. An error of `heartbeat` or `commit` is to be passed on: the driver joins
   * again after a rebalance. Any other error crashes the member.
   */
  readonly onBatch: (batch: RecordBatch) => Promise<void>;
  /**
   * The member has joined, and where it starts in each of its partitions is settled and committed: as StartPositions decides,
   * which a driver asks at each join: `positions` are those, nothing is fetched yet. It joins again once there are new
   * partitions, or a topic was made anew.
   */
  readonly onAssigned: (assignment: Assignment) => void;
  /** A position was not in its partition's log. What `to` it was moved is committed. */
  readonly onPositionReset: (reset: PositionReset) => void;
  /** A broker has answered a request of this member; heartbeats are among them, so it happens every few seconds. */
  readonly onAnswer: () => void;
}

export interface GroupTiming {
  /** A member without a heartbeat for so long loses its partitions. */
  readonly sessionTimeoutMs: number;
  readonly heartbeatMs: number;
  /** How long a rebalance waits for members to join again. */
  readonly rebalanceTimeoutMs: number;
  /** How long a broker holds a fetch while there is nothing to fetch. A stop and a rebalance wait for it. */
  readonly fetchWaitMs: number;
  /** After so long at most, new partitions and topics that were made anew are noticed. */
  readonly metadataMaxAgeMs: number;
}

/** All but the session timeout, which is a setting. */
export const GROUP_TIMING: Omit<GroupTiming, 'sessionTimeoutMs'> = {
  heartbeatMs: 1_000,
  rebalanceTimeoutMs: 30_000,
  fetchWaitMs: 500,
  metadataMaxAgeMs: 20_000,
};

/** Partitions by topic. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

/** Consecutive records of one partition, from its position on; or, without records, a record batch that is bad. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  /** The next to be consumed, in place of records. Without a commit it is handed over again. */
  readonly bad: BadBatch | undefined;
  /** The offset after the last one that consumers may see. */
  readonly highWatermark: number;

  /** Keeps the membership; sends what is due only. Rejects once the group rebalances. */
  heartbeat(): Promise<void>;

  /** Moves the partition's position there, and commits it. */
  commit(nextOffset: number): Promise<void>;

  /** Nothing more is fetched of the partition until the function that it returns is called. */
  pause(): () => void;

  /** False once the group was joined anew, since when the partition may be another member's. */
  isAssigned(): boolean;

  /** False once the member is being stopped, or has crashed. */
  isRunning(): boolean;
}

/** A record batch that can't be decoded: of an unknown codec, with a wrong checksum, or damaged. */
export interface BadBatch {
  readonly firstOffset: number;
  /** The offset that its header says, which may be damaged too. Undefined: it is not known where the next batch begins. */
  readonly lastOffset: number | undefined;
  readonly error: Error;
}

/** Where a partition goes on whose log does not hold its position. */
export interface PositionReset {
  readonly topic: string;
  readonly partition: number;
  /** That is not in the log. */
  readonly position: number;
  /**
   * `beginning`: retention has deleted the records at the position. `end`: the log ends before the position, because it has
   * lost what was consumed; what it holds may have been consumed, too. `divergence`: it has lost what was consumed, and the
   * first record that it has in its place, or will have, is at the new position.
   */
  readonly to: 'beginning' | 'end' | 'divergence';
  /** The new position. */
  readonly offset: number;
}

export interface PartitionPosition extends LogName {
  readonly topic: string;
  readonly partition: number;
  /** How many partitions the topic had when the member joined. */
  readonly partitions: number;
  /** The leader epoch of the record before the position. Undefined: not known. */
  readonly leaderEpoch: number | undefined;
  /** The offset of the next record to be consumed. */
  readonly position: number;
  /** Undefined until a fetch has told. */
  readonly highWatermark: number | undefined;
}
