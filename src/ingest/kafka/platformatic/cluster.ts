import { findCoordinatorV4, listOffsetsV7, metadataV12 } from '#@platformatic/kafka';
import type { KafkaConnection } from '../connection.ts';
import { groupBy } from './group-by.ts';
import { Connections, type BrokerAddress } from './connections.ts';
import { CODE, KafkaError } from './kafka-error.ts';

export interface TopicLayout {
  /** The id as kafkajs writes it: each driver can use positions that the other one has committed. */
  readonly topicId: string;
  /** The id as the protocol's package writes it. */
  readonly uuid: string;
  /** By partition: the node that leads it; -1 if none does at the moment. */
  readonly leaders: readonly number[];
}

interface ClusterOptions {
  readonly connection: KafkaConnection;
  readonly onAnswer?: () => void;
}

/** The timeout of requests that are answered at once, or after the wait of a fetch. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Consumers see only committed records. */
export const READ_COMMITTED = 1;

/** Stands for an offset in place of a time. */
const TIMES = { beginning: -2n, end: -1n } as const;

const GROUP = 0;

/** The brokers, and what they lead. The cluster's own connections are for requests that are answered at once. */
export class Cluster {
  readonly #connection: KafkaConnection;
  readonly #options: Required<ClusterOptions>;
  readonly #connections: Connections;
  /** By node. */
  #brokers: ReadonlyMap<number, BrokerAddress> = new Map();
  /** The broker that last answered a request that any broker can answer: others may hang. */
  #answered: BrokerAddress | undefined;

  constructor({ connection, onAnswer = () => undefined }: ClusterOptions) {
    this.#connection = connection;
    this.#options = { connection, onAnswer };
    this.#connections = this.connections();
  }

  /** This pod's rack; empty: not known. */
  get rack(): string {
    return this.#connection.rack ?? '';
  }

  get answering(): Connections {
    return this.#connections;
  }

  /** Creates further connections, for requests that wait. The caller must close them. */
  connections(requestTimeoutMs = REQUEST_TIMEOUT_MS): Connections {
    return new Connections({ ...this.#options, requestTimeoutMs });
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** @throws KafkaError if there is no such broker any more */
  broker(node: number): BrokerAddress {
    const address = this.#brokers.get(node);
    if (address === undefined)
      throw new KafkaError(`no broker has the number ${node}`, { isRetriable: true });
    return address;
  }

  /** @throws KafkaError if one of them is missing */
  async topics(names: readonly string[]): Promise<ReadonlyMap<string, TopicLayout>> {
    const found = await this.describe(names);
    const missing = names.filter((name) => !found.has(name));
    if (missing.length > 0)
      throw new KafkaError(`topics missing: ${missing.join(', ')}`, {
        codes: [CODE.unknownTopic],
        isRetriable: true,
      });
    return found;
  }

  /**
   * @param names default: of all topics
   * @returns all topics but those that do not exist, or that this user may not describe
   */
  async describe(names?: readonly string[]): Promise<ReadonlyMap<string, TopicLayout>> {
    const { brokers, topics } = await this.#metadata(names);
    this.#brokers = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
    return new Map(
      topics
        .filter(({ errorCode }) => errorCode !== CODE.unknownTopic && errorCode !== CODE.topicAuthorization)
        .map(({ name, topicId: uuid, partitions }) => {
          const leaders: number[] = [];
          for (const { partitionIndex, leaderId } of partitions) leaders[partitionIndex] = leaderId;
          const topicId = Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');
          return [name ?? '', { topicId, uuid, leaders }];
        }),
    );
  }

  /** @throws KafkaError, also while the broker creates its topic of groups, for the first group */
  async coordinator(groupId: string): Promise<BrokerAddress> {
    const { coordinators } = await this.#any((broker) =>
      this.#connections.request(broker, 'finding the coordinator', findCoordinatorV4.api, GROUP, [groupId]),
    );
    const [coordinator] = coordinators;
    if (coordinator === undefined) throw new KafkaError('no coordinator came', { isRetriable: true });
    return { host: coordinator.host, port: coordinator.port };
  }

  /** @returns offsets by partition */
  async offsets(
    topic: string,
    { leaders }: TopicLayout,
    partitions: readonly number[],
    of: keyof typeof TIMES,
  ): Promise<ReadonlyMap<number, number>> {
    const byLeader = groupBy(partitions, (partition) => leaders[partition] ?? -1);
    const answers = await Promise.all(
      [...byLeader].map(([node, led]) =>
        this.#connections.request(
          this.broker(node),
          'asking where a log begins and ends',
          listOffsetsV7.api,
          -1,
          READ_COMMITTED,
          [
            {
              name: topic,
              partitions: led.map((partitionIndex) => ({
                partitionIndex,
                currentLeaderEpoch: -1,
                timestamp: TIMES[of],
              })),
            },
          ],
        ),
      ),
    );
    const found = answers.flatMap(({ topics }) => topics.flatMap((each) => each.partitions));
    return new Map(found.map(({ partitionIndex, offset }) => [partitionIndex, Number(offset)]));
  }

  async #metadata(names: readonly string[] | undefined) {
    try {
      return await this.#any((broker) =>
        this.#connections.request(
          broker,
          'asking for topics',
          metadataV12.api,
          names ? [...names] : null,
          false,
          false,
        ),
      );
    } catch (thrown) {
      // The client throws where one topic of several is missing.
      const { response } = thrown as { response?: Awaited<ReturnType<typeof metadataV12.api.async>> };
      if (thrown instanceof KafkaError && response !== undefined) return response;
      throw thrown;
    }
  }

  /** Asks one broker after the other until one answers, first the one that answered last. */
  async #any<T>(ask: (broker: BrokerAddress) => Promise<T>): Promise<T> {
    const answered = this.#answered;
    const known = [...this.#brokers.values(), ...this.#connection.brokers.map(addressOf)];
    const all = answered === undefined ? known : [answered, ...known];
    let failure: unknown;
    for (const broker of new Map(all.map((each) => [`${each.host}:${each.port}`, each])).values()) {
      try {
        const answer = await ask(broker);
        this.#answered = broker;
        return answer;
      } catch (thrown) {
        if (!(thrown instanceof KafkaError) || thrown.codes.length > 0 || !thrown.isRetriable) throw thrown;
        failure = thrown;
      }
    }
    throw failure;
  }
}

/** @param broker `host:port`; the host may be an IPv6 address in brackets */
function addressOf(broker: string): BrokerAddress {
  const at = broker.lastIndexOf(':');
  return { host: broker.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port: Number(broker.slice(at + 1)) };
}
