import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { subscribed } from '../helpers/graphql-client.ts';
import { committedBy, kafkaAdmin } from '../helpers/kafka-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range } from '../helpers/numbers.ts';
import { startRedis } from '../helpers/redis.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

/** So often the pod has tried to publish what came in the outage: a commit of it would have come before. */
const ATTEMPTS = 5;

test('while Redis is away the pod commits nothing; when Redis is back, the pod publishes all events of that time, in order', async (t) => {
  const topic = await createTopic(t);
  const redis = await startRedis(t);
  const gateway = await startReady(t, {
    GRAPH: await itemGraph(t, topic),
    ...podSettings(topic, redis.url),
    // One is told where Redis was lost before the pod's first heartbeat.
    ON_GAP: 'tell',
    LOG_LEVEL: 'debug',
  });
  const received = await subscribed(t, gateway);
  const admin = await kafkaAdmin(t);
  const committed = () => committedBy(admin, topic, topic);

  await kcat(t, topic, itemLines(range(0, 100)));
  await received.until(100);
  await eventually(async () => assert.equal(await committed(), 100));

  await gateway.untilGrown('sluice_bus_outages_total', () => redis.stop('SIGKILL'));
  await kcat(t, topic, itemLines(range(100, 400)));
  await gateway.untilLine(
    ({ msg, attempt }) => msg === 'events were not taken' && Number(attempt) >= ATTEMPTS,
  );
  assert.equal(await committed(), 100);
  assert.equal(received.results.length, 100);
  await gateway.untilLog(/the subscribing connection to Redis is lost/);
  assert.equal((await fetch(`${gateway.adminUrl}/readyz`)).status, 200);

  await redis.start();
  const items = () => received.data.flatMap((data) => data?.item.n ?? []);
  while (items().length < 400) await received.until(received.results.length + 1);
  assert.deepEqual(items(), range(0, 400));
  assert.equal(await gateway.stop(), 0);
});
