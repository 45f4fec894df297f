import {
  heartbeatV4,
  joinGroupV9,
  leaveGroupV5,
  offsetCommitV8,
  syncGroupV5,
  Reader,
  Writer,
} from '#@platformatic/kafka';
import type { Assignment, GroupTiming } from '../driver.ts';
import type { CommittedPosition } from '../start-positions.ts';
import type { Cluster } from './cluster.ts';
import { GroupCoordinator, topicsToCommit } from './group-coordinator.ts';
import { CODE, KafkaError } from './kafka-error.ts';
import { isRebalance, type CommitOf, type Membership } from './membership.ts';

/** The strategy's name in kafkajs, which assigns in the same way: pods with either driver can be members of one group. */
const ROUND_ROBIN = 'RoundRobinAssigner';

const VERSION = 0;
const NOTHING = Buffer.alloc(0);

interface SubscribedMember {
  readonly memberId: string;
  readonly metadata: Buffer | null;
}

/** Encodes what a member says of itself when it joins. */
function encodeSubscription(topics: readonly string[]): Buffer {
  return Writer.create()
    .appendInt16(VERSION)
    .appendArray([...topics], (writer, topic) => writer.appendString(topic, false), false, false)
    .appendBytes(NOTHING, false).buffer;
}

/** @returns the topics of all members */
function subscribedTopics(members: readonly SubscribedMember[]): string[] {
  return [...new Set(members.flatMap(topicsOf))];
}

/**
 * @param members some may have a topic that others lack, while the pods of a deployment are replaced
 * @param partitionsOf returns how many partitions the topic has
 */
function assign(
  members: readonly SubscribedMember[],
  partitionsOf: (topic: string) => number,
): { memberId: string; assignment: Buffer }[] {
  const topics = subscribedTopics(members).toSorted();
  const sorted = members.map(({ memberId }) => memberId).toSorted();
  const assigned = new Map<string, Map<string, number[]>>(sorted.map((memberId) => [memberId, new Map()]));
  let next = 0;
  for (const topic of topics) {
    for (let partition = 0; partition < partitionsOf(topic); partition += 1, next += 1) {
      const own = assigned.get(sorted[next % sorted.length] ?? '');
      own?.set(topic, [...(own.get(topic) ?? []), partition]);
    }
  }
  return [...assigned].map(([memberId, own]) => ({ memberId, assignment: encodeAssignment(own) }));
}

/** @param topics that this member subscribes to: it consumes nothing of others */
function decodeAssignment(bytes: Buffer, topics: readonly string[]): Assignment {
  if (bytes.length === 0) return {};
  const reader = Reader.from(bytes);
  reader.readInt16();
  const all = reader.readArray(
    () => [reader.readString(false), reader.readArray(() => reader.readInt32(), false, false)] as const,
    false,
    false,
  );
  return Object.fromEntries(all.filter(([topic]) => topics.includes(topic)));
}

function encodeAssignment(partitions: ReadonlyMap<string, readonly number[]>): Buffer {
  return Writer.create()
    .appendInt16(VERSION)
    .appendArray(
      [...partitions],
      (writer, [topic, own]) =>
        writer
          .appendString(topic, false)
          .appendArray([...own], (inner, partition) => inner.appendInt32(partition), false, false),
      false,
      false,
    )
    .appendBytes(NOTHING, false).buffer;
}

function topicsOf({ metadata }: SubscribedMember): string[] {
  if (metadata === null) return [];
  const reader = Reader.from(metadata);
  reader.readInt16();
  return reader.readArray(() => reader.readString(false), false, false);
}

export interface MembershipOptions {
  readonly cluster: Cluster;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly timing: GroupTiming;
  /** The id of a static member, which keeps its partitions while it is away for less than the session timeout. */
  readonly instanceId: string | undefined;
}

type JoinGroupResponse = ReturnType<typeof joinGroupV9.parseResponse>;

const PROTOCOL_TYPE = 'consumer';

/**
 * A member under Kafka's classic protocol: in a rebalance all members stop and join again, and one of them assigns the
 * partitions.
 */
export class ClassicMembership implements Membership {
  readonly #options: MembershipOptions;
  readonly #coordinator: GroupCoordinator;
  #memberId = '';
  #generation = -1;

  constructor(options: MembershipOptions) {
    this.#options = options;
    const { cluster, groupId, timing } = options;
    this.#coordinator = new GroupCoordinator(cluster, groupId, timing.rebalanceTimeoutMs);
  }

  async join(): Promise<Assignment> {
    const { groupId, topics, timing, instanceId } = this.#options;
    const protocols = [{ name: ROUND_ROBIN, metadata: encodeSubscription(topics) }];
    for (;;) {
      try {
        const joined = await this.#coordinator.askInRebalance(
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

  async heartbeat(): Promise<void> {
    const { groupId, instanceId } = this.#options;
    const member = [this.#generation, this.#memberId, instanceId ?? null] as const;
    await this.#coordinator.ask('a heartbeat', heartbeatV4.api, groupId, ...member);
  }

  async commit(positions: readonly CommitOf[]): Promise<void> {
    if (positions.length === 0) return;
    const { groupId, instanceId } = this.#options;
    const member = [this.#generation, this.#memberId, instanceId ?? null] as const;
    const topics = topicsToCommit(positions);
    await this.#coordinator.ask('committing', offsetCommitV8.api, groupId, ...member, topics);
  }

  committed(topic: string, partitions: number): Promise<CommittedPosition[]> {
    return this.#coordinator.committed(topic, partitions);
  }

  /** A static member does not leave: it is expected back. */
  async leave(): Promise<void> {
    const { groupId, instanceId } = this.#options;
    if (this.#memberId === '' || instanceId !== undefined) return;
    const members = [{ memberId: this.#memberId, groupInstanceId: null, reason: null }];
    await this.#coordinator.tell('leaving the group', leaveGroupV5.api, groupId, members);
    this.#memberId = '';
  }

  close(): Promise<void> {
    return this.#coordinator.close();
  }

  async #sync(joined: JoinGroupResponse): Promise<Assignment> {
    const { cluster, groupId, topics, instanceId } = this.#options;
    let assignments: { memberId: string; assignment: Buffer }[] = [];
    if (joined.leader === this.#memberId && !joined.skipAssignment) {
      // Another member may ask for a topic that is gone.
      const layouts = await cluster.describe(subscribedTopics(joined.members));
      assignments = assign(joined.members, (topic) => layouts.get(topic)?.leaders.length ?? 0);
    }
    const { assignment } = await this.#coordinator.askInRebalance(
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
}
