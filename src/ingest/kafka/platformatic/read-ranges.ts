import { systemClock } from '../../../support/clock.ts';
import type { KafkaConnection } from '../connection.ts';
import type { RecordRange, TakeRecords } from '../driver.ts';
import { Cluster, type TopicLayout } from './cluster.ts';
import { fetchFrom } from './fetch-from.ts';
import { CODE, isRetriable, KafkaError } from './kafka-error.ts';
import { decodeRecords } from './record-batches.ts';

/** What a broker sends at once; a single record batch may be larger. */
const FETCHED_BYTES = 1024 * 1024;
const FETCH_WAIT_MS = 100;

/** Leaders may change meanwhile. */
const RETRY_MS = 200;

/** Reads records without a group: see KafkaDriver. */
export async function readRanges(
  connection: KafkaConnection,
  topic: string,
  ranges: readonly RecordRange[],
  take: TakeRecords,
  signal: AbortSignal,
): Promise<void> {
  const cluster = new Cluster({ connection });
  try {
    for (const range of ranges) await readRange(cluster, topic, range, take, signal);
  } finally {
    await cluster.close();
  }
}

async function readRange(
  cluster: Cluster,
  topic: string,
  range: RecordRange,
  take: TakeRecords,
  signal: AbortSignal,
): Promise<void> {
  const { from, until } = range;
  for (let at = { next: from, leaderEpoch: range.leaderEpoch }; at.next < until; signal.throwIfAborted()) {
    try {
      const { records, next, leaderEpoch = at.leaderEpoch } = await fetchOnce(cluster, topic, range, at);
      await take(records.filter(({ offset }) => offset < until));
      at = { next, leaderEpoch };
    } catch (thrown) {
      if (!isRetriable(thrown)) throw thrown;
      await systemClock.sleep(RETRY_MS, signal);
    }
  }
}

async function layoutOf(cluster: Cluster, topic: string, { topicId }: RecordRange): Promise<TopicLayout> {
  const layout = (await cluster.topics([topic])).get(topic);
  if (layout === undefined || (topicId !== undefined && layout.topicId !== topicId)) {
    throw new Error(`expected the topic with the id ${topicId}, got ${layout?.topicId ?? 'none'}`);
  }
  return layout;
}

async function fetchOnce(
  cluster: Cluster,
  topic: string,
  range: RecordRange,
  { next: from, leaderEpoch }: { readonly next: number; readonly leaderEpoch: number | undefined },
) {
  const { partition, resets } = range;
  const { topicId, uuid, leaders } = await layoutOf(cluster, topic, range);
  const [fetched] = await fetchFrom(cluster, cluster.answering, leaders[partition] ?? -1, {
    rack: '',
    waitMs: FETCH_WAIT_MS,
    maxBytes: FETCHED_BYTES,
    partitions: [{ uuid, partition, from, leaderEpoch, maxBytes: FETCHED_BYTES }],
  });
  if (fetched === undefined) throw new Error(`expected records of partition ${partition}, got nothing`);
  const { errorCode, divergesAt } = fetched;
  if (divergesAt !== undefined) throw new Error(`the log has lost what it had from ${divergesAt} on`);
  if (errorCode !== 0) {
    const mayBeOver = errorCode !== CODE.offsetOutOfRange && errorCode !== CODE.topicAuthorization;
    throw new KafkaError(`reading again: error ${errorCode} of Kafka`, {
      codes: [errorCode],
      isRetriable: mayBeOver,
    });
  }
  const decoded = await decodeRecords({ topic, topicId, partition, resets }, from, fetched);
  if (decoded.bad !== undefined && decoded.next < range.until) throw decoded.bad.error;
  return decoded;
}
