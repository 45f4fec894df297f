import { randomUUID } from 'node:crypto';
import { apiVersionsV3, consumerGroupHeartbeatV1, offsetCommitV9 } from '#@platformatic/kafka';
import { systemClock } from '../../../support/clock.ts';
import { withTimeout } from '../../../support/with-timeout.ts';
import type { Assignment } from '../driver.ts';
import type { CommittedPosition } from '../start-positions.ts';
import type { MembershipOptions } from './classic-membership.ts';
import { GroupCoordinator, topicsToCommit } from './group-coordinator.ts';
import { CODE, KafkaError } from './kafka-error.ts';
import type { CommitOf, Membership } from './membership.ts';

/** Partitions by the UUID of their topic. */
type Owned = readonly { readonly topicId: string; readonly partitions: readonly number[] }[];

const NONE: Owned = [];

/** In place of an epoch: the member joins, leaves, or is a static one that will be back. */
const JOINING = 0;
const LEAVING = -1;
const AWAY = -2;

const HEARTBEAT = { key: 68, version: 1 };

/** The most attempts for one commit, each with another epoch. */
const MAX_EPOCHS = 5;

/** How long a member that leaves waits for its own join: else the coordinator may still add it afterwards. */
const LAST_JOIN_MS = 3_000;

/**
 * A member under the protocol of KIP-848, in which the coordinator assigns partitions: with each heartbeat the member says
 * which partitions it has, and learns which it should have. It gives up the others by joining again, and then another
 * member gets them; partitions that stay where they are do not stand still.
 */
export class ConsumerMembership implements Membership {
  readonly #options: MembershipOptions;
  readonly #coordinator: GroupCoordinator;
  readonly #memberId = randomUUID();
  #epoch = JOINING;
  /** What the coordinator believes that this member consumes. */
  #owned = NONE;
  #isSupported = false;
  #joining: Promise<unknown> = Promise.resolve();
  readonly #leaving = new AbortController();

  constructor(options: MembershipOptions) {
    this.#options = options;
    const { cluster, groupId, timing } = options;
    this.#coordinator = new GroupCoordinator(cluster, groupId, timing.rebalanceTimeoutMs);
  }

  join(): Promise<Assignment> {
    const joined = this.#join();
    this.#joining = joined.catch(() => undefined);
    return joined;
  }

  async heartbeat(): Promise<void> {
    const assigned = await this.#beat(this.#epoch);
    if (isSame(assigned, this.#owned)) return;
    const codes = [CODE.rebalanceInProgress];
    throw new KafkaError('the group assigns other partitions', { codes, isRetriable: true });
  }

  async commit(positions: readonly CommitOf[]): Promise<void> {
    if (positions.length === 0) return;
    const { groupId, instanceId } = this.#options;
    const topics = topicsToCommit(positions);
    for (let attempt = 1; ; attempt += 1) {
      const member = [this.#epoch, this.#memberId, instanceId ?? null] as const;
      try {
        await this.#coordinator.ask('committing', offsetCommitV9.api, groupId, ...member, topics);
        return;
      } catch (thrown) {
        const isStale = thrown instanceof KafkaError && thrown.has(CODE.staleMemberEpoch);
        if (!isStale || attempt === MAX_EPOCHS) throw thrown;
        // The group has a new epoch. The partitions are this member's nevertheless, until it says that it has given them up.
        await this.#beat(this.#epoch);
      }
    }
  }

  committed(topic: string, partitions: number): Promise<CommittedPosition[]> {
    return this.#coordinator.committed(topic, partitions);
  }

  /** The coordinator keeps the partitions of a static member until its session ends. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    this.#coordinator.giveUp();
    await withTimeout(this.#joining, LAST_JOIN_MS, () => undefined);
    if (this.#epoch === JOINING) return;
    const epoch = this.#options.instanceId === undefined ? LEAVING : AWAY;
    const request = this.#request(epoch);
    await this.#coordinator.tell('leaving the group', consumerGroupHeartbeatV1.api, ...request);
    this.#epoch = JOINING;
    this.#owned = NONE;
  }

  close(): Promise<void> {
    return this.#coordinator.close();
  }

  /** Says that it has given up what it should not have, and takes what is assigned, until both sides agree. */
  async #join(): Promise<Assignment> {
    const { rebalanceTimeoutMs, heartbeatMs } = this.#options.timing;
    let waits = rebalanceTimeoutMs / heartbeatMs;
    await this.#requireSupport();
    for (;;) {
      try {
        const assigned = await this.#beat(this.#epoch);
        const isAgreed = isSame(assigned, this.#owned);
        this.#owned = assigned;
        if (!isAgreed) continue;
        if (assigned.length > 0 || this.#leaving.signal.aborted || waits < 1) break;
        // Records published after a member has joined must not be missed, in a new group either: the coordinator may not
        // yet have reassigned the partitions of members that left before they committed where these begin.
        if (await this.#isStarted()) break;
        waits -= 1;
        await systemClock.sleep(heartbeatMs, this.#leaving.signal);
      } catch (thrown) {
        if (thrown instanceof KafkaError && thrown.has(CODE.unsupportedVersion)) throw unsupported(thrown);
        const isGone = thrown instanceof KafkaError && thrown.has(CODE.unknownMember, CODE.fencedMemberEpoch);
        if (!isGone || this.#epoch === JOINING) throw thrown;
        this.#epoch = JOINING;
        this.#owned = NONE;
      }
    }
    return this.#byName(this.#owned);
  }

  /** Whether the group has a position on each partition. */
  async #isStarted(): Promise<boolean> {
    const { cluster, topics } = this.#options;
    const layouts = await cluster.topics(topics);
    const positions = await Promise.all(
      [...layouts].map(([topic, { leaders }]) => this.committed(topic, leaders.length)),
    );
    return positions.flat().every(({ offset }) => offset !== undefined);
  }

  /** @returns the partitions that the member should have */
  async #beat(epoch: number): Promise<Owned> {
    const request = this.#request(epoch);
    const answer = await this.#coordinator.ask('a heartbeat', consumerGroupHeartbeatV1.api, ...request);
    this.#epoch = answer.memberEpoch;
    return answer.assignment?.topicPartitions ?? this.#owned;
  }

  /** Sends every field each time: only then does the answer always hold the assignment. */
  #request(epoch: number): Parameters<typeof consumerGroupHeartbeatV1.createRequest> {
    const { cluster, groupId, topics, timing, instanceId } = this.#options;
    const owned = this.#owned.map(({ topicId, partitions }) => ({ topicId, partitions: [...partitions] }));
    return [
      groupId,
      this.#memberId,
      epoch,
      instanceId ?? null,
      cluster.rack === '' ? null : cluster.rack,
      timing.rebalanceTimeoutMs,
      [...topics],
      null,
      null,
      owned,
    ];
  }

  async #byName(owned: Owned): Promise<Assignment> {
    const { cluster, topics } = this.#options;
    const layouts = await cluster.topics(topics);
    const names = new Map([...layouts].map(([name, { uuid }]) => [uuid, name]));
    return Object.fromEntries(
      owned.map(({ topicId, partitions }) => {
        const name = names.get(topicId);
        if (name !== undefined) return [name, partitions];
        // A topic is being made anew, or the broker that was asked does not know it yet.
        throw new KafkaError(`expected a topic with the id ${topicId}, got none`, { isRetriable: true });
      }),
    );
  }

  /** Older brokers close a connection when they get a request that they don't know. */
  async #requireSupport(): Promise<void> {
    if (this.#isSupported) return;
    const { apiKeys } = await this.#coordinator.ask('asking for versions', apiVersionsV3.api, 'sluice', '1');
    this.#isSupported = apiKeys.some(
      ({ apiKey, minVersion, maxVersion }) =>
        apiKey === HEARTBEAT.key && minVersion <= HEARTBEAT.version && maxVersion >= HEARTBEAT.version,
    );
    if (!this.#isSupported) throw unsupported(undefined);
  }
}

function unsupported(cause: unknown): KafkaError {
  const expected = 'expected classic, as these brokers share no partitions out themselves';
  const message = `KAFKA_GROUP_PROTOCOL: ${expected} (Kafka 4.0 and later can), got consumer`;
  return new KafkaError(message, { isRetriable: false, cause });
}

function isSame(one: Owned, other: Owned): boolean {
  const textOf = (owned: Owned): string =>
    owned
      .flatMap(({ topicId, partitions }) => partitions.map((partition) => `${topicId} ${partition}`))
      .toSorted()
      .join();
  return textOf(one) === textOf(other);
}
