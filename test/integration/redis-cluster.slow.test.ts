import assert from 'node:assert/strict';
import { startReady } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed, type ItemData, type Received } from '../helpers/graphql-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { upTo } from '../helpers/numbers.ts';
import { startCluster } from '../helpers/redis-cluster.ts';
import { kafkaBrokers, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { testRefusedLogin } from './redis-refused-login.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

const EVENTS = 100;

test('two pods serve each other’s subscribers of two topics by way of a Redis Cluster, while slots move', async (t) => {
  const cluster = await startCluster(t);
  const topics = [await createTopic(t), await createTopic(t)] as const;
  const graph = await graphFolder(t, {
    'schema.graphql': `
        type Subscription {
          one(id: ID!): Item @event(topic: "${topics[0]}", key: "id", history: { size: 1000, ttl_seconds: 60 })
          other(id: ID!): Item @event(topic: "${topics[1]}", key: "id", history: { size: 1000, ttl_seconds: 60 })
        }
        type Item { id: ID! n: Int! }`,
  });
  const start = () =>
    startReady(t, {
      GRAPH: graph,
      KAFKA_BROKERS: kafkaBrokers(),
      KAFKA_GROUP_ID: topics[0],
      REDIS_CLUSTER: cluster.nodes.join(','),
      REDIS_PREFIX: `${topics[0]}:`,
    });
  const pods = [await start(), await start()];
  const received: Received<ItemData>[] = [];
  for (const pod of pods) {
    for (const field of ['one', 'other']) {
      const query = `subscription { item: ${field}(id: 1) { n } }`;
      received.push(await subscribed(t, pod, { query }));
    }
  }
  const send = (from: number) => {
    const lines = itemLines(upTo(from + EVENTS, from + 1));
    return Promise.all(topics.map((topic) => kcat(t, topic, lines)));
  };
  await send(0);
  for (const one of received) await one.until(EVENTS);
  await Promise.all([send(EVENTS), ...topics.map((topic) => cluster.move(topic))]);
  for (const one of received) {
    await one.until(2 * EVENTS);
    assert.deepEqual(numbersOf(one), upTo(2 * EVENTS));
  }
});

testRefusedLogin('a Redis Cluster', async (t) => {
  const { nodes, clients } = await startCluster(t);
  return { settings: { REDIS_CLUSTER: nodes.join(',') }, clients };
});
