import {
  heartbeatV4,
  joinGroupV9,
  leaveGroupV5,
  offsetCommitV8,
  offsetFetchV8,
  syncGroupV5,
  type API,
} from '@platformatic/kafka';
import { systemClock } from '../../../support/clock.ts';
import type { Assignment, GroupTiming } from '../driver.ts';
import type { CommittedPosition } from '../start-positions.ts';
import {
  assign,
  decodeAssignment,
  encodeSubscription,
  ROUND_ROBIN,
  subscribedTopics,
} from './assignments.ts';
import type { Cluster } from './cluster.ts';
import type { BrokerAddress, Connections } from './connections.ts';
import { CODE, KafkaError } from './kafka-error.ts';

interface MembershipOptions {
  readonly cluster: Cluster;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly timing: GroupTiming;
  /** Of a static member, which keeps its partitions while it is away for less than the session timeout. */
  readonly instanceId: string | undefined;
}

export interface CommitOf {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

type JoinGroupResponse = ReturnType<typeof joinGroupV9.parseResponse>;

const PROTOCOL_TYPE = 'consumer';

/** Some ten seconds in all: a coordinator that goes is replaced within them. */
const RETRIES = 6;
const RETRY_MS = 300;

/** One member of a group under Kafka's classic protocol. Its requests go to the group's coordinator, one after the other. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #connections: Connections;
  readonly #closing = new AbortController();
  #coordinator: BrokerAddress | undefined;
  #memberId = '';
  #generation = -1;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#connections = options.cluster.connections();
  }

  /** @returns the member's partitions */
  async join(): Promise<Assignment> {
    const { groupId, topics, timing, instanceId } = this.#options;
    const protocols = [{ name: ROUND_ROBIN, metadata: encodeSubscription(topics) }];
    for (;;) {
      try {
        const joined = await this.#ask(
          'joining the group',
          joinGroupV9.api,
          groupId,
          timing.sessionTimeoutMs,
          timing.rebalanceTimeoutMs,
          this.#memberId,
          instanceId ?? null,
          PROTOCOL_TYPE,
          protocols,
          null,
        );
        this.#memberId = joined.memberId ?? '';
        this.#generation = joined.generationId;
        return await this.#sync(joined);
      } catch (thrown) {
        if (!this.#mayJoinAgain(thrown)) throw thrown;
      }
    }
  }

  /** Rejects with `isRebalance` errors once the group rebalances, or has gone on without this member. */
  async heartbeat(): Promise<void> {
    const { groupId, instanceId } = this.#options;
    const api = heartbeatV4.api;
    await this.#ask('a heartbeat', api, groupId, this.#generation, this.#memberId, instanceId ?? null);
  }

  async commit(positions: readonly CommitOf[]): Promise<void> {
    if (positions.length === 0) return;
    const { groupId, instanceId } = this.#options;
    const topics = [...new Set(positions.map(({ topic }) => topic))].map((name) => ({
      name,
      partitions: positions
        .filter(({ topic }) => topic === name)
        .map(({ partition, offset, metadata }) => ({
          partitionIndex: partition,
          committedOffset: BigInt(offset),
          committedLeaderEpoch: -1,
          committedMetadata: metadata,
        })),
    }));
    const api = offsetCommitV8.api;
    await this.#ask('committing', api, groupId, this.#generation, this.#memberId, instanceId ?? null, topics);
  }

  /** @returns what the group has committed, for each partition of the topic */
  async committed(topic: string, partitions: number): Promise<CommittedPosition[]> {
    const { groupId } = this.#options;
    const partitionIndexes = Array.from({ length: partitions }, (_, partition) => partition);
    const group = { groupId, memberId: null, memberEpoch: -1, topics: [{ name: topic, partitionIndexes }] };
    const { groups } = await this.#ask('asking for committed positions', offsetFetchV8.api, [group], true);
    const found = groups[0]?.topics[0]?.partitions ?? [];
    return found
      .map(({ partitionIndex, committedOffset, metadata }) => ({
        partition: partitionIndex,
        offset: committedOffset < 0n ? undefined : Number(committedOffset),
        metadata: metadata ?? null,
      }))
      .toSorted((one, other) => one.partition - other.partition);
  }

  /** A static member does not leave: it is expected back. May be called while it joins. Never rejects. */
  async leave(): Promise<void> {
    const { cluster, groupId, instanceId } = this.#options;
    if (this.#memberId === '' || instanceId !== undefined || this.#coordinator === undefined) return;
    const members = [{ memberId: this.#memberId, groupInstanceId: null, reason: null }];
    // Not over the connection of a join that still waits.
    await cluster.answering
      .request(this.#coordinator, 'leaving the group', leaveGroupV5.api, groupId, members)
      .catch(() => undefined);
    this.#memberId = '';
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connections.close();
  }

  async #sync(joined: JoinGroupResponse): Promise<Assignment> {
    const { cluster, groupId, topics, instanceId } = this.#options;
    let assignments: { memberId: string; assignment: Buffer }[] = [];
    if (joined.leader === this.#memberId && !joined.skipAssignment) {
      const layouts = await cluster.topics(subscribedTopics(joined.members));
      assignments = assign(joined.members, (topic) => layouts.get(topic)?.leaders.length ?? 0);
    }
    const { assignment } = await this.#ask(
      'taking partitions',
      syncGroupV5.api,
      groupId,
      this.#generation,
      this.#memberId,
      instanceId ?? null,
      PROTOCOL_TYPE,
      joined.protocolName ?? ROUND_ROBIN,
      assignments,
    );
    return decodeAssignment(assignment, topics);
  }

  #mayJoinAgain(thrown: unknown): boolean {
    if (!(thrown instanceof KafkaError)) return false;
    if (thrown.has(CODE.memberIdRequired)) {
      this.#memberId = (thrown.response as JoinGroupResponse).memberId ?? '';
      return true;
    }
    if (!isRebalance(thrown) || thrown.has(CODE.fencedInstance)) return false;
    if (thrown.has(CODE.unknownMember)) this.#memberId = '';
    return true;
  }

  /** Asks the coordinator, and the next one if it has gone. */
  async #ask<Arguments extends unknown[], Response>(
    doing: string,
    api: API<Arguments, Response>,
    ...args: Arguments
  ): Promise<Response> {
    const { cluster, groupId } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#coordinator ??= await cluster.coordinator(groupId);
        return await this.#connections.request(this.#coordinator, doing, api, ...args);
      } catch (thrown) {
        if (attempt > RETRIES || this.#closing.signal.aborted || !mayHaveMoved(thrown)) throw thrown;
        this.#coordinator = undefined;
        await systemClock.sleep(RETRY_MS * attempt, this.#closing.signal);
      }
    }
  }
}

/** Whether the group rebalances, or has gone on without this member: it has to join again. */
export function isRebalance(thrown: unknown): thrown is KafkaError {
  const { rebalanceInProgress, illegalGeneration, unknownMember, fencedInstance } = CODE;
  return (
    thrown instanceof KafkaError &&
    thrown.has(rebalanceInProgress, illegalGeneration, unknownMember, fencedInstance)
  );
}

function mayHaveMoved(thrown: unknown): boolean {
  if (!(thrown instanceof KafkaError)) return false;
  if (thrown.codes.length === 0) return thrown.isRetriable;
  return thrown.has(
    CODE.coordinatorLoading,
    CODE.coordinatorUnavailable,
    CODE.notCoordinator,
    CODE.unstableOffsets,
  );
}
