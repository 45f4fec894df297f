import {
  consumerGroupDescribeV0,
  describeGroupsV5,
  offsetFetchV8,
  type API,
  type offsetCommitV8,
} from '#@platformatic/kafka';
import { systemClock } from '../../../support/clock.ts';
import { withTimeout } from '../../../support/with-timeout.ts';
import type { CommittedPosition } from '../start-positions.ts';
import type { Cluster } from './cluster.ts';
import type { BrokerAddress, Connections } from './connections.ts';
import { groupBy } from './group-by.ts';
import { CODE, KafkaError } from './kafka-error.ts';
import type { CommitOf } from './membership.ts';

type TopicsToCommit = Parameters<typeof offsetCommitV8.createRequest>[4];

/** Some ten seconds in all: a coordinator that fails is replaced within this time. */
const RETRIES = 6;
const RETRY_MS = 300;

/** The state that a broker reports of a group that it does not know under the classic protocol. */
const NOT_CLASSIC = 'Dead';
/** A group without members under the protocol of KIP-848. */
const EMPTY = 'Empty';

/** After this time, the last request has reached the coordinator, unless it hangs. */
const LAST_WORD_MS = 3_000;

/** How much longer than a rebalance may last a request waits for the answer after it. */
const REBALANCE_MARGIN_MS = 10_000;

/** The broker that a member's requests go to, one after the other; if it has gone, the one that replaces it. */
export class GroupCoordinator {
  readonly #cluster: Cluster;
  readonly #groupId: string;
  readonly #connections: Connections;
  /** For requests that wait for a rebalance; the other requests notice a coordinator that hangs. */
  readonly #waiting: Connections;
  readonly #givingUp = new AbortController();
  #address: BrokerAddress | undefined;

  constructor(cluster: Cluster, groupId: string, rebalanceTimeoutMs: number) {
    this.#cluster = cluster;
    this.#groupId = groupId;
    this.#connections = cluster.connections();
    this.#waiting = cluster.connections(rebalanceTimeoutMs + REBALANCE_MARGIN_MS);
  }

  /** Sends a request that is answered at once. @throws KafkaError */
  ask<Arguments extends unknown[], Response>(
    doing: string,
    api: API<Arguments, Response>,
    ...args: Arguments
  ): Promise<Response> {
    return this.#ask(this.#connections, doing, api, ...args);
  }

  /** Sends a request that is answered after a rebalance. @throws KafkaError */
  askInRebalance<Arguments extends unknown[], Response>(
    doing: string,
    api: API<Arguments, Response>,
    ...args: Arguments
  ): Promise<Response> {
    return this.#ask(this.#waiting, doing, api, ...args);
  }

  /** Sends a request to the coordinator that was asked last, without a second attempt. Never rejects. */
  async tell<Arguments extends unknown[], Response>(
    doing: string,
    api: API<Arguments, Response>,
    ...args: Arguments
  ): Promise<void> {
    if (this.#address === undefined) return;
    // Over another connection: on one that still waits for an answer, this request would be answered after it.
    const told = this.#cluster.answering.request(this.#address, doing, api, ...args);
    await withTimeout(told, LAST_WORD_MS, () => undefined).catch(() => undefined);
  }

  /** @returns what the group has committed, for each partition of the topic */
  async committed(topic: string, partitions: number): Promise<CommittedPosition[]> {
    const partitionIndexes = Array.from({ length: partitions }, (_, partition) => partition);
    const topics = [{ name: topic, partitionIndexes }];
    const group = { groupId: this.#groupId, memberId: null, memberEpoch: -1, topics };
    const { groups } = await this.ask('asking for committed positions', offsetFetchV8.api, [group], true);
    const found = groups[0]?.topics[0]?.partitions ?? [];
    return found
      .map(({ partitionIndex, committedOffset, metadata }) => ({
        partition: partitionIndex,
        offset: committedOffset < 0n ? undefined : Number(committedOffset),
        metadata: metadata ?? null,
      }))
      .toSorted((one, other) => one.partition - other.partition);
  }

  /** Whether the group has members under either protocol; true also if the broker does not say. */
  async hasMembers(): Promise<boolean> {
    const ids = [this.#groupId];
    const { groups } = await this.ask('describing the group', describeGroupsV5.api, ids, false);
    const [classic] = groups;
    if (classic?.groupState !== NOT_CLASSIC) return (classic?.members.length ?? 0) > 0;
    try {
      const answer = await this.ask('describing the group', consumerGroupDescribeV0.api, ids, false);
      return answer.groups.some(({ groupState }) => groupState !== EMPTY);
    } catch (thrown) {
      return !(thrown instanceof KafkaError && thrown.has(CODE.groupNotFound));
    }
  }

  /** Makes no more attempts at requests that fail. */
  giveUp(): void {
    this.#givingUp.abort();
  }

  /** Gives up, also requests that wait. */
  async close(): Promise<void> {
    this.giveUp();
    await Promise.all([this.#connections.close(), this.#waiting.close()]);
  }

  async #ask<Arguments extends unknown[], Response>(
    connections: Connections,
    doing: string,
    api: API<Arguments, Response>,
    ...args: Arguments
  ): Promise<Response> {
    const { signal } = this.#givingUp;
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#address ??= await this.#cluster.coordinator(this.#groupId);
        return await connections.request(this.#address, doing, api, ...args);
      } catch (thrown) {
        if (attempt > RETRIES || signal.aborted || !mayHaveMoved(thrown)) throw thrown;
        this.#address = undefined;
        await systemClock.sleep(RETRY_MS * attempt, signal);
      }
    }
  }
}

/** Returns positions in the form of requests. */
export function topicsToCommit(positions: readonly CommitOf[]): TopicsToCommit {
  return [...groupBy(positions, ({ topic }) => topic)].map(([name, of]) => ({
    name,
    partitions: of.map(({ partition, offset, metadata }) => ({
      partitionIndex: partition,
      committedOffset: BigInt(offset),
      committedLeaderEpoch: -1, // not all clients commit it, so the text has it
      committedMetadata: metadata,
    })),
  }));
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
