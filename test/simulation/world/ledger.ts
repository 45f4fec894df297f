import { leaderEpochOf } from '../../../src/events/log-position.ts';
import type { Publication } from '../../../src/events/publisher.ts';
import type { TopicName } from './graph.ts';

/** One event, as Kafka has it. */
export interface LedgerEvent {
  /** Its own, over all topics. */
  readonly number: number;
  readonly topic: TopicName;
  readonly topicId: string;
  readonly partition: number;
  readonly offset: number;
  /** The epoch of the partition when it was produced. */
  readonly leaderEpoch: number;
  readonly channel: string;
  /** When it was produced. */
  readonly at: number;
  /** Its value is no JSON: it becomes a dead letter. */
  readonly malformed: boolean;
  /** One of those at the end, when all faults are over: it has to arrive. */
  readonly isProbe: boolean;
}

/** A key that is deleted: that of a channel. */
export interface LedgerTombstone extends Omit<LedgerEvent, 'number' | 'at' | 'malformed' | 'isProbe'> {
  /** When Redis acknowledged it first. */
  acknowledgedAt: number | undefined;
}

/** One attempt of a pod to publish an event, and whether Redis acknowledged it. */
export interface Attempt {
  readonly pod: string;
  readonly at: number;
  /** The servers of which one is the Redis that it was sent to. */
  readonly servers: readonly string[];
  /** When it was acknowledged or had failed; Infinity where its pod ended before that. */
  endedAt: number;
  acknowledged: boolean;
}

/** A pod has passed over what was published to a channel, since Redis counted no listener there. */
interface PassedOver {
  readonly pod: string;
  readonly topic: string;
  readonly channel: string;
  /** When it asked. */
  readonly at: number;
}

/** When Redis lost what it had acknowledged, or may have. */
export interface Loss {
  readonly at: number;
  /** Another server has become the master. */
  readonly failover?: {
    readonly formerMaster: string;
    readonly at: number;
  };
}

/** A pod has looked where the partitions of a topic start: at each join of its group. */
interface Look {
  readonly pod: string;
  readonly topic: string;
  readonly topicId: string | undefined;
  readonly at: number;
}

/** What has been produced and published. */
export class Ledger {
  readonly events: LedgerEvent[] = [];
  readonly tombstones: LedgerTombstone[] = [];
  /** By number of the event. */
  readonly attempts = new Map<number, Attempt[]>();
  readonly passedOver: PassedOver[] = [];
  readonly losses: Loss[] = [];
  /** When Redis has evicted what tells it of a topic which positions there have been. */
  readonly evictions: { readonly topic: string; readonly at: number }[] = [];
  /** When it last refused to note it. */
  readonly forgotten: { readonly topic: string; readonly at: number }[] = [];
  /**
   * While Redis refuses a command, a script may have come as far as that; while a pod publishes that knows no history, an epoch
   * ends with each of its events, and the positions with it.
   */
  readonly unnoted: { readonly from: number; readonly to: number }[] = [];
  readonly looks: Look[] = [];
  /** Ids of topics that were made anew since. */
  readonly deleted = new Set<string>();
  /** Numbers of events that a pod of another bus has consumed, which had found no members in the group. */
  readonly takenAway = new Set<number>();
  /** Numbers of events that were lost with their log, or the end of it, before the group had consumed them. */
  readonly unconsumed = new Set<number>();

  /**
   * A log is lost from an offset on.
   *
   * @param consumed of the group: the offset behind what it has consumed of the log, and the leader epoch of that
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

  /** Redis has acknowledged what deletes a key. */
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

/** Whether one comes later in a log: where this has lost its end, offsets are given once more, in a higher leader epoch. */
export function isBehind(
  one: Pick<LedgerEvent, 'offset' | 'leaderEpoch'>,
  other: Pick<LedgerEvent, 'offset' | 'leaderEpoch'>,
): boolean {
  return one.leaderEpoch === other.leaderEpoch
    ? one.offset > other.offset
    : one.leaderEpoch > other.leaderEpoch;
}
