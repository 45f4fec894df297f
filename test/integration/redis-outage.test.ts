import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { startRedis } from '../helpers/redis.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { kafkaBrokers, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

/** So often the pod has tried to publish what came in the outage: a commit of it would have come before. */
const ATTEMPTS = 5;

test('while Redis is away the pod commits nothing; when Redis is back, the pod publishes all events of that time, in order', async (t) => {
  const topic = await createTopic(t);
  const redis = await startRedis(t);
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema(topic) });
  const gateway = await startGateway(t, {
    GRAPH: folder,
    KAFKA_BROKERS: kafkaBrokers(),
    KAFKA_GROUP_ID: topic,
    REDIS_URL: redis.url,
    ON_GAP: 'tell',
    LOG_LEVEL: 'debug',
  });
  await gateway.untilReady();
  const received = new Received<{ item: { n: number } }>(
    graphqlClient(t, gateway.graphqlUrl),
    'subscription { item { n } }',
  );
  await gateway.untilMetric('sluice_subscribers', 1);

  const admin = kafkaClient().admin();
  await admin.connect();
  t.after(() => admin.disconnect());
  const committed = async (): Promise<number> => {
    const [offsets] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
    return Number(offsets?.partitions[0]?.offset);
  };
  const send = (from: number, to: number): Promise<void> =>
    kcat(
      t,
      topic,
      Array.from({ length: to - from }, (_, index) => ({
        value: JSON.stringify({ id: 1, n: from + index }),
      })),
    );

  await send(0, 100);
  await received.until(100);
  await eventually(async () => assert.equal(await committed(), 100));

  await redis.stop('SIGKILL');
  await send(100, 400);
  await gateway.untilLine(
    ({ msg, attempt }) => msg === 'events were not taken' && Number(attempt) >= ATTEMPTS,
  );
  assert.equal(await committed(), 100);
  assert.equal(received.results.length, 100);
  await gateway.untilMetric('sluice_bus_outages_total', 1);
  await gateway.untilLog(/the subscribing connection to Redis is lost/);
  assert.equal((await fetch(`${gateway.adminUrl}/readyz`)).status, 200);

  await redis.start();
  const items = () => received.data.flatMap((data) => data?.item.n ?? []);
  while (items().length < 400) await received.until(received.results.length + 1);
  // A Redis that has forgotten everything can't say that nothing was missed.
  while (!received.results.some(({ extensions }) => extensions?.['gap'] !== undefined))
    await received.until(received.results.length + 1);
  assert.deepEqual(
    items(),
    Array.from({ length: 400 }, (_, n) => n),
  );
  assert.equal(await gateway.stop(), 0);
});
