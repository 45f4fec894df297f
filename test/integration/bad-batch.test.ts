import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { flipByteOfBatch } from '../helpers/log-segment.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { disconnectAfter } from '../helpers/kafka-client.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { beginAt, createTopics } from '../helpers/topic.ts';

const OPTIONS = needs('kafka-jars', 'redis');
const GROUP = 'pods';

/**
 * A gateway whose topic has two partitions. The second batch of the first one is damaged before the gateway starts to
 * consume; what comes is received through another pod, which is there before.
 */
async function setUp(t: TestContext, settings: Readonly<Record<string, string>>) {
  const kafka = await startOwnKafka(t, await temporaryFolder(t));
  const admin = kafka.client.admin();
  await admin.connect();
  disconnectAfter(t, admin);
  const topics = [{ topic: 'items', numPartitions: 2 }, { topic: 'dead' }];
  await createTopics(admin, topics);
  const producer = kafka.client.producer();
  await producer.connect();
  disconnectAfter(t, producer);
  const send = (partition: number, ...numbers: number[]) =>
    producer.send({
      topic: 'items',
      messages: numbers.map((n) => ({ partition, value: JSON.stringify({ id: 1, n }) })),
    });
  const flip = () => flipByteOfBatch(path.join(kafka.logFolder, 'items-0'), 1);
  await send(0, 1, 2);
  await send(0, 3, 4);
  await flip();
  await send(0, 5);
  await send(1, 11, 12);
  await beginAt(admin, GROUP, 'items', [0, 0]);

  const serving = {
    GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema('items') }),
    REDIS_URL: redisUrl(),
    REDIS_PREFIX: `${randomUUID()}:`,
  };
  const watching = await startGateway(t, serving);
  const received = new Received<{ item: { n: number } }>(
    graphqlClient(t, watching.graphqlUrl),
    'subscription { item { n } }',
  );
  await watching.untilMetric('sluice_subscribers', 1);
  const seen = () => received.data.map((data) => data?.item.n ?? 0).toSorted((one, other) => one - other);
  const gateway = await startGateway(t, {
    ...serving,
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_GROUP_ID: GROUP,
    DEAD_LETTER_TOPIC: 'dead',
    ...settings,
  });
  await gateway.untilReady();
  return { gateway, admin, received, send, flip, seen };
}

test(
  'a damaged record batch stops its own partition until it can be read, and nothing else',
  OPTIONS,
  async (t) => {
    const { gateway, received, send, flip, seen } = await setUp(t, {});
    await gateway.untilMetric('sluice_bad_partitions', 1);
    await send(1, 13);
    await received.until(5);
    assert.deepEqual(seen(), [1, 2, 11, 12, 13]);
    await gateway.untilReady();
    assert.equal(await gateway.metric('sluice_consumer_restarts_total'), 0);
    const { topic, partition, offset, error } = await gateway.untilLine(({ msg }) =>
      msg.includes('record batch'),
    );
    assert.deepEqual([topic, partition, offset], ['items', 0, 2]);
    assert.match(String(error), /checksum/);

    await flip();
    await received.until(8);
    assert.deepEqual(seen(), [1, 2, 3, 4, 5, 11, 12, 13]);
    await gateway.untilMetric('sluice_bad_partitions', 0);
  },
);

test(
  'with KAFKA_BAD_BATCH=skip the partition goes on behind it, and the dead-letter topic names it',
  OPTIONS,
  async (t) => {
    const { gateway, admin, received, seen } = await setUp(t, { KAFKA_BAD_BATCH: 'skip' });
    await received.until(5);
    assert.deepEqual(seen(), [1, 2, 5, 11, 12]);
    assert.equal(await gateway.metric('sluice_bad_batches_total'), 1);
    assert.equal(await gateway.metric('sluice_bad_partitions'), 0);
    const [dead] = await admin.fetchTopicOffsets('dead');
    assert.equal(dead?.high, '1');
  },
);
