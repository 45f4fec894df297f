import assert from 'node:assert/strict';
import test from 'node:test';
import type { Cluster, TopicLayout } from '../../../../../src/ingest/kafka/platformatic/cluster.ts';
import { Fetcher } from '../../../../../src/ingest/kafka/platformatic/fetcher.ts';
import type { FetchResponse } from '../../../../../src/ingest/kafka/platformatic/fetch-response.ts';
import { MemberPartition } from '../../../../../src/ingest/kafka/platformatic/member-partition.ts';
import { createLog } from '../../../../../src/log.ts';

const uuidOf = (digit: string): string => `00000000-0000-0000-0000-${digit.repeat(12)}`;

/** In the order in which requests begin. */
const UUIDS = { busy: uuidOf('1'), large: uuidOf('2') };

const layout = (uuid: string, partitions: number): TopicLayout => ({
  topicId: uuid,
  uuid,
  leaders: Array.from({ length: partitions }, () => 1),
});

test('a topic is asked for last that had something, although its first partition is idle', async () => {
  const first: (string | undefined)[] = [];
  const idle = new Promise<never>(() => undefined);
  const raw = (
    _to: unknown,
    _doing: string,
    _api: unknown,
    create: () => { buffer: Buffer },
  ): Promise<FetchResponse> => {
    const sent = create().buffer.toString('hex');
    const at = Object.entries(UUIDS).map(
      ([topic, uuid]) => [topic, sent.indexOf(uuid.replaceAll('-', ''))] as const,
    );
    first.push(at.toSorted(([, one], [, other]) => one - other)[0]?.[0]);
    if (first.length === 3) return idle;
    const none = { errorCode: 0, lastStableOffset: 1, aborted: [], preferredReplica: -1 };
    const fetched = { ...none, uuid: UUIDS.busy, partition: 1, records: Buffer.from('records') };
    return Promise.resolve({ errorCode: 0, partitions: [fetched] });
  };
  const cluster = {
    rack: '',
    broker: () => ({ host: 'broker', port: 1 }),
    connections: () => ({ raw, close: () => Promise.resolve() }),
  } as unknown as Cluster;
  const partitions = ['busy 0', 'busy 1', 'large 0'].map((place) => {
    const [topic = '', partition] = place.split(' ');
    return new MemberPartition({
      topic,
      topicId: topic,
      partition: Number(partition),
      partitions: 2,
      metadata: () => '',
      log: { resets: 0, leaderEpoch: undefined },
      position: 0,
    });
  });
  const fetcher = new Fetcher({
    cluster,
    layouts: new Map([
      ['busy', layout(UUIDS.busy, 2)],
      ['large', layout(UUIDS.large, 1)],
    ]),
    partitions,
    fetchWaitMs: 1,
    onFetched: () => undefined,
    onFailed: (error) => assert.fail(error),
    log: createLog('silent'),
  });
  fetcher.fetch();
  while (first.length < 3) await new Promise(setImmediate);
  await fetcher.stop();
  assert.deepEqual(first, ['busy', 'large', 'large']);
});
