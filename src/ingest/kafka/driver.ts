import type { DeadLetterSink } from '../dead-letter.ts';
import type { KafkaRecord } from '../record.ts';

/**
 * All that the gateway needs from a Kafka client. Code in this folder outside `kafkajs`, `platformatic` and `credentials`
 * knows Kafka only through this interface, so another client, or a simulated Kafka, is one more implementation;
 * `test/contract/kafka-driver.ts` says what each must do.
 */
export interface KafkaDriver {
  /** The topics that do not exist, or that this user may not describe. Creates none. */
  missingTopics(wanted: readonly string[]): Promise<readonly string[]>;

  /** All topics that this user may describe. */
  topics(): Promise<readonly string[]>;

  /**
   * Deletes a group, and with it its committed offsets, if it has no live members.
   *
   * @returns whether the group is now without offsets
   */
  forgetGroup(groupId: string): Promise<boolean>;

  /** Tells what is known of a group before it is joined. @param topics to read the positions of */
  describeGroup(groupId: string, topics: readonly string[]): Promise<GroupDescription>;

  /** Creates a member, which does not run yet. */
  member(options: MemberOptions): GroupMember;

  /** Writes to a topic. Connects with the first message. */
  deadLetterSink(topic: string): StoppableSink;

  /**
   * Reads records of a topic once more, without a group: one range after the other, each in order.
   *
   * @throws if the log does not hold all of a range any more, or its records before a range have changed; if a batch can't
   *   be decoded, or the signal aborts
   */
  read(topic: string, ranges: readonly RecordRange[], take: TakeRecords, signal: AbortSignal): Promise<void>;

  /** Whether the same attempt may succeed later: not after a wrong password or a fault in the code. */
  isRetriable(error: unknown): boolean;
}

/** Names the log that offsets belong to. */
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
  /** The offset after the last record. */
  readonly until: number;
}

/** Called with records as they come. No more are read until it resolves. */
export type TakeRecords = (records: readonly KafkaRecord[]) => Promise<void>;

export interface GroupDescription {
  /** True also if this client can't tell. */
  readonly hasMembers: boolean;
  /** The text that was committed with each position that the group has on these topics. */
  readonly texts: readonly (string | null)[];
}

export interface StoppableSink extends DeadLetterSink {
  stop(): Promise<void>;
}

/** One member of a consumer group, from connecting to a crash or a stop. It is not used again after either. */
export interface GroupMember {
  /**
   * Joins and consumes until a crash: an error that is not limited to one partition. Rebalances, and brokers that are down
   * for a while, are no crash. May also reject with the error of the crash.
   *
   * @returns the error of the crash; stays pending after a stop
   */
  run(): Promise<Error>;

  /** Waits for the batch being processed, leaves the group and disconnects; never rejects. */
  stop(): Promise<void>;

  /** When the last heartbeat was sent that the group has answered, and so confirmed this member: ms since 1970. */
  readonly confirmedAt: number;

  /** One for each assigned partition; none before the first join, and while it joins again. @param topic undefined: of all */
  positions(topic?: string): readonly PartitionPosition[];
}

/** A topic that is consumed since patterns of the graph match it. */
export interface Matched {
  /** Marks of these patterns. */
  readonly patterns: string;
  /** Whether the group has begun with one of them, or this process has seen the topic appear: then it is new. */
  readonly isBegun: boolean;
}

export interface MemberOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /** How patterns match a topic; undefined: it is consumed by its name. Asked at each join. Absent: there are no patterns. */
  readonly matched?: (topic: string) => Matched | undefined;
  /** The id of the bus that the pod publishes to; each commit carries it. Undefined: none is known. */
  readonly bus?: string | undefined;
  readonly timing: GroupTiming;
  /**
   * Called for one batch of a member at a time. An error of `heartbeat` or `commit` must be passed on: the driver joins
   * again after a rebalance. Any other error crashes the member.
   */
  readonly onBatch: (batch: RecordBatch) => Promise<void>;
  /**
   * Called when the member has joined, and has committed where each of its partitions starts. A driver asks StartPositions
   * for that at each join; `positions` returns the result, and nothing is fetched yet. The member joins again once there
   * are new partitions, or a topic was made anew.
   */
  readonly onAssigned: (assignment: Assignment) => void;
  /** Called when a position was not in its partition's log. The position that it was moved to is committed. */
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
  /** How long it takes at most to notice new partitions, and topics that were made anew. */
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
  /** The bad batch to be consumed next, in place of records. Without a commit it is handed over again. */
  readonly bad: BadBatch | undefined;
  /** The offset after the last one that consumers may see. */
  readonly highWatermark: number;

  /** Keeps the membership; sends a heartbeat only if one is due. Rejects once the group rebalances. */
  heartbeat(): Promise<void>;

  /** Moves the partition's position to `nextOffset`, and commits it. */
  commit(nextOffset: number): Promise<void>;

  /** Stops fetching from the partition until the returned function is called. */
  pause(): () => void;

  /** False once the member has joined anew: the partition may be another member's since then. */
  isAssigned(): boolean;

  /** False once the member is being stopped, or has crashed. */
  isRunning(): boolean;
}

/** A record batch that can't be decoded: of an unknown codec, with a wrong checksum, or damaged. */
export interface BadBatch {
  readonly firstOffset: number;
  /** The last offset by its header, which may be damaged too. Undefined: it is unknown where the next batch begins. */
  readonly lastOffset: number | undefined;
  readonly error: Error;
}

/** Where a partition goes on if its log does not hold its position. */
export interface PositionReset {
  readonly topic: string;
  readonly partition: number;
  /** The position that is not in the log. */
  readonly position: number;
  /**
   * `beginning`: retention has deleted the records at the position. `end`: the log ends before the position, because it has
   * lost consumed records; what it still holds may be consumed already. `divergence`: the log has lost consumed records;
   * others take, or will take, their place from the new position on.
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
