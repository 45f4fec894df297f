import { systemClock } from '../../../support/clock.ts';
import { Backoff } from '../../../support/backoff.ts';
import type { Log } from '../../../log.ts';
import type { KafkaConnection } from '../connection.ts';
import type { Assignment, GroupMember, MemberOptions, PartitionPosition } from '../driver.ts';
import type { StartPositions } from '../start-positions.ts';
import { ClassicMembership } from './classic-membership.ts';
import { Cluster, type TopicLayout } from './cluster.ts';
import { ConsumerMembership } from './consumer-membership.ts';
import { CODE, isRetriable, KafkaError } from './kafka-error.ts';
import { MemberPartition } from './member-partition.ts';
import { isRebalance, type CommitOf, type Membership } from './membership.ts';
import { Session } from './session.ts';

interface PlatformaticMemberOptions extends MemberOptions {
  readonly connection: KafkaConnection;
  readonly log: Log;
  readonly starts: StartPositions;
  /** Undefined: Kafka gives the member a new name at each start. */
  readonly instanceId: string | undefined;
  readonly groupProtocol: GroupProtocol;
}

/** Kafka's names of its protocols for groups: `consumer` is that of KIP-848. */
export type GroupProtocol = 'classic' | 'consumer';

/** How many joins may fail in a row before the member crashes, after some ten seconds. */
const RETRIES = 5;
const RETRY = { firstMs: 300, maxMs: 5_000 };

/** A member of a group, which joins and consumes with requests of `@platformatic/kafka`. */
export class PlatformaticMember implements GroupMember {
  readonly #options: PlatformaticMemberOptions;
  readonly #cluster: Cluster;
  readonly #membership: Membership;
  readonly #stopping = new AbortController();
  #running: Promise<Error | undefined> | undefined;
  #session: Session | undefined;
  #partitions: readonly MemberPartition[] = [];
  #isCrashed = false;

  constructor(options: PlatformaticMemberOptions) {
    this.#options = options;
    const { connection, onAnswer, timing, groupId, topics, instanceId, groupProtocol } = options;
    this.#cluster = new Cluster({ connection, onAnswer });
    const member = { cluster: this.#cluster, groupId, topics, timing, instanceId };
    this.#membership =
      groupProtocol === 'classic' ? new ClassicMembership(member) : new ConsumerMembership(member);
  }

  async run(): Promise<Error> {
    this.#running = this.#run();
    return (await this.#running) ?? new Promise<never>(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#session?.stop();
    if (this.#session === undefined) {
      // The member is joining, and Kafka may let it wait.
      await this.#membership.leave();
      await this.#membership.close();
      await this.#cluster.close();
      await this.#running;
    } else {
      await this.#running;
      await this.#membership.leave();
      await this.#membership.close();
    }
    await this.#cluster.close();
  }

  get confirmedAt(): number {
    return this.#session?.confirmedAt ?? -Infinity;
  }

  positions(topic?: string): readonly PartitionPosition[] {
    const partitions = this.#session?.isAssigned() === true ? this.#partitions : [];
    return partitions.filter((one) => topic === undefined || one.topic === topic).map(({ at }) => at);
  }

  /** @returns the error of the crash; undefined after a stop */
  async #run(): Promise<Error | undefined> {
    const { random } = systemClock;
    let backoff = new Backoff({ ...RETRY, random });
    for (let failures = 0; !this.#stopping.signal.aborted;) {
      try {
        const session = await this.#join();
        if (session === undefined) break;
        failures = 0;
        backoff = new Backoff({ ...RETRY, random });
        await session.run();
      } catch (thrown) {
        if (this.#stopping.signal.aborted) break;
        failures += 1;
        if (failures > retriesOf(thrown) || !(isRetriable(thrown) || mayJoinAgain(thrown))) {
          this.#isCrashed = true;
          return this.#named(thrown as Error);
        }
        await systemClock.sleep(backoff.next(), this.#stopping.signal);
      } finally {
        this.#session = undefined;
      }
    }
    return undefined;
  }

  /** @returns undefined after a stop */
  async #join(): Promise<Session | undefined> {
    const { topics, onAssigned } = this.#options;
    const layoutsBefore = await this.#cluster.topics(topics);
    const assignment = await this.#membership.join();
    // A partition may have been added meanwhile.
    const layouts = await this.#cluster.topics(topics);
    const partitions = await this.#settle(assignment, layouts);
    if (this.#stopping.signal.aborted) return undefined;
    this.#partitions = partitions;
    this.#session = new Session({
      cluster: this.#cluster,
      membership: this.#membership,
      member: this.#options,
      partitions,
      layoutsBefore,
      layouts,
      log: this.#options.log,
      isRunning: () => !this.#isCrashed && !this.#stopping.signal.aborted,
    });
    onAssigned(assignment);
    return this.#session;
  }

  /** Decides where the partitions start, and commits positions that the group has not committed. */
  async #settle(
    assignment: Assignment,
    layouts: ReadonlyMap<string, TopicLayout>,
  ): Promise<readonly MemberPartition[]> {
    const result: MemberPartition[] = [];
    const found: CommitOf[] = [];
    for (const [topic, partitions] of Object.entries(assignment)) {
      const layout = layouts.get(topic);
      if (layout === undefined) continue;
      const { topicId, leaders } = layout;
      const positions = await this.#membership.committed(topic, leaders.length);
      const { starts, bus, matched } = this.#options;
      const decision = starts.decide({ topic, topicId, positions, matched: matched?.(topic), bus });
      const { start, metadata, isUnnamed } = decision;
      const startsAt = (wanted: 'beginning' | 'end') => {
        const starting = partitions.filter((partition) => start(partition) === wanted);
        return this.#cluster.offsets(topic, layout, starting, wanted);
      };
      const looked = new Map([...(await startsAt('beginning')), ...(await startsAt('end'))]);
      for (const partition of partitions) {
        const offset = looked.get(partition);
        const committed = positions.find((each) => each.partition === partition);
        const position = offset ?? committed?.offset ?? 0;
        const log = decision.log(partition);
        result.push(
          new MemberPartition({
            topic,
            topicId,
            partition,
            partitions: leaders.length,
            metadata,
            position,
            log,
          }),
        );
        if (offset !== undefined || isUnnamed(partition))
          found.push({ topic, partition, offset: position, metadata: metadata(log) });
      }
    }
    await this.#membership.commit(found);
    return result;
  }

  #named(error: Error): Error {
    const { instanceId } = this.#options;
    const { fencedInstance, unreleasedInstance } = CODE;
    const isTaken = error instanceof KafkaError && error.has(fencedInstance, unreleasedInstance);
    if (instanceId === undefined || !isTaken) return error;
    const expected = 'expected a name that no other member of the group has';
    const mayBeReleased = error.has(unreleasedInstance);
    const why = mayBeReleased
      ? 'which one has until it stops, or its session ends'
      : 'which another one joined with';
    const message = `KAFKA_INSTANCE_ID: ${expected}, got ${instanceId}, ${why}`;
    return new KafkaError(message, { codes: error.codes, isRetriable: mayBeReleased, cause: error });
  }
}

/** A topic that has gone may not come back: then the others must be consumed without it. */
function retriesOf(thrown: unknown): number {
  return thrown instanceof KafkaError && thrown.has(CODE.unknownTopic) ? 1 : RETRIES;
}

/** Tells whether the member may join again, as after a rebalance while it committed where its partitions begin. */
function mayJoinAgain(thrown: unknown): boolean {
  return isRebalance(thrown) && !thrown.has(CODE.fencedInstance);
}
