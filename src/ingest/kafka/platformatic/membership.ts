import type { Assignment } from '../driver.ts';
import type { CommittedPosition } from '../start-positions.ts';
import { CODE, KafkaError } from './kafka-error.ts';

/** One member of a group, under one of Kafka's protocols for them. */
export interface Membership {
  /** Joins, or joins again. @returns the member's partitions */
  join(): Promise<Assignment>;

  /** Rejects with `isRebalance` errors once the member has to join again. */
  heartbeat(): Promise<void>;

  commit(positions: readonly CommitOf[]): Promise<void>;

  /** @returns what the group has committed, for each partition of the topic */
  committed(topic: string, partitions: number): Promise<CommittedPosition[]>;

  /** May be called while it joins. Never rejects. */
  leave(): Promise<void>;

  close(): Promise<void>;
}

export interface CommitOf {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

/** The group has gone on without this member. */
const GONE = [CODE.illegalGeneration, CODE.unknownMember, CODE.fencedInstance, CODE.fencedMemberEpoch];

/** Whether the group rebalances, or has gone on without this member: it has to join again. */
export function isRebalance(thrown: unknown): thrown is KafkaError {
  return thrown instanceof KafkaError && thrown.has(CODE.rebalanceInProgress, ...GONE);
}
