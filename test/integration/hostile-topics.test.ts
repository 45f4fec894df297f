import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { flipByteOfBatch } from '../helpers/log-segment.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { beginAt, createTopics } from '../helpers/topic.ts';

const GROUP = 'pods';
const CODECS = ['gzip', 'snappy', 'lz4', 'zstd'] as const;

const field = (name: string): string => `${name}(id: [ID!]): Item @event(topic: "${name}", key: "id")`;

test(
  'two pods, three topics: a batch that is damaged and a record with 12,000 headers stop nothing else, of any codec',
  needs('kafka-jars', 'redis', 'kcat'),
  async (t) => {
    const kafka = await startOwnKafka(t, await temporaryFolder(t));
    const admin = kafka.client.admin();
    await admin.connect();
    t.after(() => admin.disconnect());
    const topics = ['packed', 'damaged', 'heavy'];
    await createTopics(
      admin,
      topics.map((topic) => ({ topic, numPartitions: 2 })),
    );
    const producer = kafka.client.producer();
    await producer.connect();
    t.after(() => producer.disconnect());
    const send = (topic: string, partition: number, n: number, headers: Record<string, string> = {}) =>
      producer.send({ topic, messages: [{ partition, value: JSON.stringify({ id: 1, n }), headers }] });
    const GRAPH = await graphFolder(t, {
      'schema.graphql': `type Subscription { ${topics.map(field).join(' ')} } type Item { id: ID! n: Int! }`,
    });
    for (const n of [1, 2, 3]) await send('damaged', 0, n);
    await flipByteOfBatch(path.join(kafka.logFolder, 'damaged-0'), 2);
    // Nobody would get what pods consume before subscribers are there: they begin at the batch that is damaged.
    await beginAt(admin, GROUP, 'damaged', [2, 0]);
    const settings = {
      GRAPH,
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_GROUP_ID: GROUP,
      REDIS_URL: redisUrl(),
      REDIS_PREFIX: `${process.pid}:`,
    };
    const pods = [await startGateway(t, settings), await startGateway(t, settings)];
    await Promise.all(pods.map((pod) => pod.untilReady()));
    const received = pods.map((pod) => {
      const client = graphqlClient(t, pod.graphqlUrl);
      const of = (topic: string) =>
        new Received<Record<string, { n: number }>>(client, `subscription { ${topic} { n } }`);
      return { packed: of('packed'), damaged: of('damaged'), heavy: of('heavy') };
    });
    await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', topics.length)));
    const headers = Object.fromEntries(
      Array.from({ length: 12_000 }, (_, index) => [`header-${index}`, 'v']),
    );
    await send('heavy', 0, 1, headers);
    await send('heavy', 0, 2);
    await send('damaged', 1, 4);
    const sent = CODECS.map((_, index) => [2 * index, 2 * index + 1]);
    for (const [index, codec] of CODECS.entries()) {
      const lines = sent[index]?.map((n) => ({ key: '1', value: JSON.stringify({ id: 1, n }) })) ?? [];
      await kcat(t, 'packed', lines, codec, kafka.brokers);
    }

    for (const { packed, damaged, heavy } of received) {
      await packed.until(8);
      assert.deepEqual(
        packed.data.map((data) => data?.['packed']?.n),
        sent.flat(),
      );
      await heavy.until(2);
      await damaged.until(1);
      assert.deepEqual(
        damaged.data.map((data) => data?.['damaged']?.n),
        [4],
      );
    }
    for (const pod of pods) assert.equal((await fetch(`${pod.adminUrl}/readyz`)).status, 200);
    // The alert SluiceBadPartition: sum by (namespace, topic) (sluice_bad_partitions) > 0.
    await eventually(async () => {
      const bad = await Promise.all(pods.map((pod) => pod.metric('sluice_bad_partitions')));
      assert.equal(
        bad.reduce((sum, count) => sum + count, 0),
        1,
      );
    });
    const restarts = await Promise.all(pods.map((pod) => pod.metric('sluice_consumer_restarts_total')));
    assert.deepEqual(restarts, [0, 0]);
  },
);
