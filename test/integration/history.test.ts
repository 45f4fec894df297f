import assert from 'node:assert/strict';
import { startReady } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { startRedis } from '../helpers/redis.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { createTopic } from '../helpers/topic.ts';
import { accountWithRedis, kill } from './delivery-account.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

for (const [title, history] of [
  [
    'while Redis closes all connections, subscribers of a topic with history get every event, and no gap',
    '{}',
  ],
  [
    'while Redis closes all connections, subscribers of a topic without history get every event, and no gap',
    'null',
  ],
] as const) {
  test(`200 subscribers on two pods: ${title}`, async (t) => {
    const account = await accountWithRedis(t, { history }, kill('pubsub', 'normal'));
    assert.deepEqual([account.delivered, account.gaps], [account.owed, 0]);
  });
}

test('a Redis that comes back empty is told once to a subscriber, though the pod that had published comes back later', async (t) => {
  const topic = await createTopic(t);
  const redis = await startRedis(t);
  const [near, far] = [await TcpRelay.start(t, redis.port), await TcpRelay.start(t, redis.port)];
  const GRAPH = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { item: Item @event(topic: "${topic}", history: {}) }
      type Item { n: Int }
    `,
  });
  const settings = (relay: TcpRelay) => ({
    GRAPH,
    ...podSettings(topic, `redis://127.0.0.1:${relay.port}`),
  });
  const publisher = await startReady(t, settings(far));
  const edge = await startReady(t, { ...settings(near), KAFKA_BROKERS: '' });
  const client = new ResumingClient(t, 'subscription { item { n } }');
  await client.connect(edge.graphqlUrl);
  await kcat(t, topic, itemLines([1]));
  await client.until((results) => results.length === 1);
  for (const relay of [near, far]) relay.refuse();
  for (const pod of [edge, publisher]) await pod.untilMetric('sluice_bus_connected', 0);
  await redis.stop('SIGKILL');
  await redis.start();
  near.admit();
  await client.until(() => client.gaps > 0);
  far.admit();
  await publisher.untilLog(/Redis may have lost messages that it had acknowledged/);
  // What was announced before comes over the same connection.
  await kcat(t, topic, itemLines([2]));
  await client.until((results) => results.length === 2);
  assert.equal(client.gaps, 1);
});
