import { deleteGroupsV2 } from '#@platformatic/kafka';
import type { Log } from '../../../log.ts';
import type { KafkaConnection } from '../connection.ts';
import type {
  GroupDescription,
  GroupMember,
  KafkaDriver,
  MemberOptions,
  RecordRange,
  StoppableSink,
  TakeRecords,
} from '../driver.ts';
import { StartPositions } from '../start-positions.ts';
import { Cluster } from './cluster.ts';
import { DeadLetterProducer } from './dead-letter-producer.ts';
import { GroupCoordinator } from './group-coordinator.ts';
import { CODE, isRetriable, KafkaError } from './kafka-error.ts';
import { readRanges } from './read-ranges.ts';
import { PlatformaticMember, type GroupProtocol } from './member.ts';

interface PlatformaticDriverOptions {
  readonly log: Log;
  /** The id of a static member; undefined: Kafka gives a member a new name at each start. */
  readonly instanceId: string | undefined;
  readonly groupProtocol: GroupProtocol;
}

/**
 * Real brokers, by the connections and the protocol of `@platformatic/kafka`. Its own consumer is not used: it commits a
 * position again after a rebalance, to a partition that may be another member's by then (docs/adr/0022).
 */
export class PlatformaticDriver implements KafkaDriver {
  readonly #connection: KafkaConnection;
  readonly #options: PlatformaticDriverOptions;
  /** Outlives the members: a topic may be made anew between two of them. */
  readonly #starts = new StartPositions();

  constructor(connection: KafkaConnection, options: PlatformaticDriverOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  missingTopics(wanted: readonly string[]): Promise<string[]> {
    return this.#withCluster(async (cluster) => {
      const found = await cluster.describe(wanted);
      return wanted.filter((topic) => !found.has(topic));
    });
  }

  topics(): Promise<readonly string[]> {
    return this.#withCluster(async (cluster) => [...(await cluster.describe()).keys()]);
  }

  forgetGroup(groupId: string): Promise<boolean> {
    return this.#withCluster(async (cluster) => {
      try {
        const coordinator = await cluster.coordinator(groupId);
        await cluster.answering.request(coordinator, 'deleting the group', deleteGroupsV2.api, [groupId]);
        return true;
      } catch (thrown) {
        if (thrown instanceof KafkaError && thrown.has(CODE.groupNotFound)) return true;
        if (thrown instanceof KafkaError && thrown.has(CODE.nonEmptyGroup)) return false;
        throw thrown;
      }
    });
  }

  describeGroup(groupId: string, topics: readonly string[]): Promise<GroupDescription> {
    return this.#withCluster(async (cluster) => {
      const group = new GroupCoordinator(cluster, groupId, 0);
      try {
        const layouts = await cluster.describe(topics);
        const positions = await Promise.all(
          [...layouts].map(([topic, { leaders }]) => group.committed(topic, leaders.length)),
        );
        const committed = positions.flat().filter(({ offset }) => offset !== undefined);
        const texts = committed.map(({ metadata }) => metadata);
        return { hasMembers: await group.hasMembers(), texts };
      } finally {
        await group.close();
      }
    });
  }

  member(options: MemberOptions): GroupMember {
    return new PlatformaticMember({
      ...options,
      connection: this.#connection,
      starts: this.#starts,
      ...this.#options,
    });
  }

  deadLetterSink(topic: string): StoppableSink {
    return new DeadLetterProducer(new Cluster({ connection: this.#connection }), topic);
  }

  read(topic: string, ranges: readonly RecordRange[], take: TakeRecords, signal: AbortSignal): Promise<void> {
    return readRanges(this.#connection, topic, ranges, take, signal);
  }

  isRetriable(error: unknown): boolean {
    return isRetriable(error);
  }

  async #withCluster<T>(use: (cluster: Cluster) => Promise<T>): Promise<T> {
    const cluster = new Cluster({ connection: this.#connection });
    try {
      return await use(cluster);
    } finally {
      await cluster.close();
    }
  }
}
