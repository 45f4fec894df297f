import { leaderEpochOf } from '../../../src/events/log-position.ts';
import type { Publication } from '../../../src/events/publisher.ts';
import type { TopicName } from './graph.ts';

/** One event in Kafka. */
export interface LedgerEvent {
  /** The event's own number, unique over all topics. */
  readonly number: number;
  readonly topic: TopicName;
  readonly topicId: string;
  readonly partition: number;
  readonly offset: number;
  /** The leader epoch of the partition when the event was produced. */
  readonly leaderEpoch: number;
  readonly channel: string;
  /** When the event was produced. */
  readonly at: number;
  /** Whether the value is no JSON, so that it becomes a dead letter. */
  readonly malformed: boolean;
  /** Whether the event is one of the last, after all repairs: it must arrive. */
  readonly isProbe: boolean;
}

/** The deletion of a channel's key. */
export interface LedgerTombstone extends Omit<LedgerEvent, 'number' | 'at' | 'malformed' | 'isProbe'> {
  /** When Redis first acknowledged the deletion. */
  acknowledgedAt: number | undefined;
}

/** A pod's attempt to publish an event, and whether Redis acknowledged it. */
export interface Attempt {
  readonly pod: string;
  readonly at: number;
  /** The servers of the pair that the attempt was sent to. */
  readonly servers: readonly string[];
  /** When the attempt was acknowledged or failed; Infinity if its pod ended before. */
  endedAt: number;
  acknowledged: boolean;
}

/** A pod has passed over events of a channel, since Redis counted no listener there. */
interface PassedOver {
  readonly pod: string;
  readonly topic: string;
  readonly channel: string;
  /** When the pod asked. */
  readonly at: number;
}

/** When Redis lost acknowledged writes, or may have lost some. */
export interface Loss {
  readonly at: number;
  /** Set if another server has become the master. */
  readonly failover?: {
    readonly formerMaster: string;
    readonly at: number;
  };
}

/** A pod has looked where the partitions of a topic start, as it does at each join of its group. */
interface Look {
  readonly pod: string;
  readonly topic: string;
  readonly topicId: string | undefined;
  readonly at: number;
}

/** The events that were produced and published. */
export class Ledger {
  readonly events: LedgerEvent[] = [];
  readonly tombstones: LedgerTombstone[] = [];
  /** By number of the event. */
  readonly attempts = new Map<number, Attempt[]>();
  readonly passedOver: PassedOver[] = [];
  readonly losses: Loss[] = [];
  /** When Redis evicted its record of a topic's positions. */
  readonly evictions: { readonly topic: string; readonly at: number }[] = [];
  /** When Redis last refused to record positions of a topic. */
  readonly forgotten: { readonly topic: string; readonly at: number }[] = [];
  /**
   * Times in which Redis refused a command, so that a script may have stopped there; or in which a pod without
   * histories published, each of whose events ends an epoch, and its positions with it.
   */
  readonly unnoted: { readonly from: number; readonly to: number }[] = [];
  readonly looks: Look[] = [];
  /** Ids of topics that were deleted, or made anew. */
  readonly deleted = new Set<string>();
  /** Numbers of events that a pod of another bus has consumed, after it had found the group empty. */
  readonly takenAway = new Set<number>();
  /** Numbers of events that were lost with their log or its end before the group had consumed them. */
  readonly unconsumed = new Set<number>();

  /**
   * To be called when a log is lost from an offset on.
   *
   * @param consumed the group's position: the offset behind its last consumed record, and that record's leader epoch
   */
  lost(
    {
      topicId,
      partition,
      from,
    }: { readonly topicId: string; readonly partition: number; readonly from: number },
    consumed: { readonly offset: number; readonly leaderEpoch: number | undefined } | undefined,
  ): void {
    const { offset = 0, leaderEpoch = 0 } = consumed ?? {};
    const last = { offset: offset - 1, leaderEpoch };
    for (const event of this.events) {
      const isOfLog = event.topicId === topicId && event.partition === partition;
      if (isOfLog && event.offset >= from && isBehind(event, last)) this.unconsumed.add(event.number);
    }
  }

  /** Notes that Redis has acknowledged a deletion. */
  acknowledged({ source }: Publication, at: number): void {
    for (const tombstone of this.tombstones) {
      const { topicId, partition, offset, leaderEpoch } = tombstone;
      if (topicId !== source?.topicId || partition !== source.partition || offset !== source.offset) continue;
      if (leaderEpoch === leaderEpochOf(source)) tombstone.acknowledgedAt ??= at;
    }
  }

  attempted(number: number, attempt: Attempt): void {
    const attempts = this.attempts.get(number);
    if (attempts === undefined) this.attempts.set(number, [attempt]);
    else attempts.push(attempt);
  }
}

/** Whether `one` is later in a log: if the log lost its end, later records have the same offsets and a higher epoch. */
export function isBehind(
  one: Pick<LedgerEvent, 'offset' | 'leaderEpoch'>,
  other: Pick<LedgerEvent, 'offset' | 'leaderEpoch'>,
): boolean {
  return one.leaderEpoch === other.leaderEpoch
    ? one.offset > other.offset
    : one.leaderEpoch > other.leaderEpoch;
}
