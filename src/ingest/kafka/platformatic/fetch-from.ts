import { fetchV13 } from '#@platformatic/kafka';
import { READ_COMMITTED, type Cluster } from './cluster.ts';
import type { Connections } from './connections.ts';
import { fetchResponse, type FetchedPartition } from './fetch-response.ts';
import { groupBy } from './group-by.ts';
import { KafkaError } from './kafka-error.ts';

interface WantedPartition {
  /** The topic's id as the protocol's package writes it. */
  readonly uuid: string;
  readonly partition: number;
  readonly from: number;
  /** The leader epoch of the record before. Undefined: not known. */
  readonly leaderEpoch: number | undefined;
  /** The most bytes that the broker sends of it; a single record batch may be larger. */
  readonly maxBytes: number;
}

interface FetchOptions {
  readonly partitions: readonly WantedPartition[];
  /** This pod's rack: the broker may name a replica there. Empty: not known. */
  readonly rack: string;
  /** How long the broker waits while there is nothing: ms. */
  readonly waitMs: number;
  readonly maxBytes: number;
}

/** Each fetch stands for itself: brokers remember nothing of it. */
const NO_SESSION = { id: 0, epoch: -1 };

/** @throws KafkaError */
export async function fetchFrom(
  cluster: Cluster,
  connections: Connections,
  node: number,
  { partitions: wanted, rack, waitMs, maxBytes }: FetchOptions,
): Promise<readonly FetchedPartition[]> {
  const topics = [...groupBy(wanted, ({ uuid }) => uuid)].map(([topicId, ofTopic]) => ({
    topicId,
    partitions: ofTopic.map(({ partition, from, leaderEpoch = -1, maxBytes: partitionMaxBytes }) => ({
      partition,
      currentLeaderEpoch: -1,
      fetchOffset: BigInt(from),
      lastFetchedEpoch: leaderEpoch,
      partitionMaxBytes,
    })),
  }));
  const { id, epoch } = NO_SESSION;
  const request = [waitMs, 1, maxBytes, READ_COMMITTED, id, epoch, topics, [], rack] as const;
  const { errorCode, partitions } = await connections.raw(
    cluster.broker(node),
    'fetching',
    fetchV13.api,
    () => fetchV13.createRequest(...(request as unknown as Parameters<typeof fetchV13.createRequest>)),
    (_id, _key, _version, reader) => fetchResponse(reader.buffer.slice(reader.position)),
  );
  if (errorCode === 0) return partitions;
  throw new KafkaError(`fetching: error ${errorCode} of Kafka`, { codes: [errorCode], isRetriable: true });
}
