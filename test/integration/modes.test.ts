import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { disconnectAfter, kafkaClient } from '../helpers/kafka-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { upTo } from '../helpers/numbers.ts';
import { kafkaBrokers, testNeeding, podSettings, redisUrl } from '../helpers/services.ts';
import { createTopic, createTopics } from '../helpers/topic.ts';

const it = testNeeding('kafka', 'redis', 'kcat');

const QUERY = 'subscription { item { n } }';

const numbers = (received: Received<{ item: { n: number } }>): (number | undefined)[] =>
  received.data.map((data) => data?.item.n);

test('without Kafka and Redis, the gateway takes events by POST, and they never leave the process', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await startGateway(t, { GRAPH: folder });
  await gateway.untilReady();
  const received = new Received<{ item: { n: number } }>(graphqlClient(t, gateway.graphqlUrl), QUERY);
  await gateway.untilMetric('sluice_subscribers', 1);
  const post = (topic: string, body: string): Promise<Response> =>
    fetch(`${gateway.httpUrl}/events/${topic}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  assert.equal((await post('items', '{"id":1,"n":1}')).status, 202);
  assert.equal((await post('others', '{"id":1,"n":2}')).status, 404);
  assert.equal((await post('items', 'not json')).status, 400);
  assert.equal((await post('items', '{"id":1,"n":3}')).status, 202);
  await received.until(2);
  assert.deepEqual(numbers(received), [1, 3]);
});

test('with the bundled graph and no other settings, subscribers get simulated events', async (t) => {
  const gateway = await startGateway(t, {});
  const received = new Received(
    graphqlClient(t, gateway.graphqlUrl),
    'subscription { property_update { __typename } }',
  );
  await received.until(2);
  assert.equal(received.end, undefined);
  assert.ok(received.results.every(({ errors }) => errors === undefined));
});

it('with Kafka alone, each process gets all events, in a consumer group that is deleted when it stops', async (t) => {
  const topic = await createTopic(t, { partitions: 3 });
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema(topic) });
  const settings = { GRAPH: folder, KAFKA_BROKERS: kafkaBrokers(), KAFKA_GROUP_ID: topic };
  const pods = await Promise.all([startGateway(t, settings), startGateway(t, settings)]);
  await Promise.all(pods.map((pod) => pod.untilReady()));
  const subscribers = pods.map(
    (pod) => new Received<{ item: { n: number } }>(graphqlClient(t, pod.graphqlUrl), QUERY),
  );
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 1)));
  const sent = Array.from({ length: 30 }, (_, n) => n);
  await kcat(
    t,
    topic,
    sent.map((n) => ({ key: String(n), value: JSON.stringify({ id: n, n }) })),
  );
  for (const received of subscribers) {
    await received.until(sent.length);
    assert.deepEqual(
      numbers(received).toSorted((a, b) => Number(a) - Number(b)),
      sent,
    );
  }
  for (const pod of pods) assert.equal(await pod.stop(), 0);
  const admin = kafkaClient().admin();
  await admin.connect();
  disconnectAfter(t, admin);
  // A stop does not wait for a group that takes long to be deleted.
  await eventually(async () => {
    const { groups } = await admin.listGroups();
    assert.deepEqual(
      groups.filter(({ groupId }) => groupId.startsWith(topic)),
      [],
    );
  });
});

it('with Redis alone, a pod (an edge) delivers the events that another pod consumes, in order', async (t) => {
  const topic = await createTopic(t);
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema(topic) });
  const shared = { GRAPH: folder, REDIS_URL: redisUrl(), REDIS_PREFIX: `${topic}:` };
  const edge = await startGateway(t, shared);
  const consumer = await startGateway(t, { ...shared, ...podSettings(topic) });
  await Promise.all([edge.untilReady(), consumer.untilReady()]);
  const received = new Received<{ item: { n: number } }>(graphqlClient(t, edge.graphqlUrl), QUERY);
  await edge.untilMetric('sluice_subscribers', 1);
  const sent = upTo(500);
  await kcat(
    t,
    topic,
    sent.map((n) => ({ key: '1', value: JSON.stringify({ id: 1, n }) })),
  );
  await received.until(sent.length);
  assert.deepEqual(numbers(received), sent);
  assert.equal(await edge.metric('sluice_events_total'), 0);
  assert.equal((await fetch(`${edge.httpUrl}/events/${topic}`, { method: 'POST', body: '{}' })).status, 404);
});

it('a pod is not ready before its topics exist, says which are missing, and consumes them once they exist', async (t) => {
  const topic = `no-such-topic-${randomUUID()}`;
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema(topic) });
  const gateway = await startGateway(t, { GRAPH: folder, ...podSettings(topic) });
  await gateway.untilNotReady(new RegExp(`topics missing: ${topic}`));
  assert.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200);
  const admin = kafkaClient().admin();
  await admin.connect();
  disconnectAfter(t, admin);
  await createTopics(admin, [{ topic }]);
  await gateway.untilReady();
  const received = new Received<{ item: { n: number } }>(graphqlClient(t, gateway.graphqlUrl), QUERY);
  await gateway.untilMetric('sluice_subscribers', 1);
  await kcat(t, topic, [{ value: '{"id":1,"n":1}' }]);
  await received.until(1);
  assert.equal(await gateway.stop(), 0);
});

for (const [what, settings, reason] of [
  ['no Kafka', { KAFKA_BROKERS: '127.0.0.1:1' }, /joining/],
  ['neither Kafka nor Redis', { KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' }, /Redis/],
] as const) {
  test(`a pod that reaches ${what} starts, is alive, says why it is not ready, and stops`, async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const gateway = await startGateway(t, { GRAPH: folder, ...settings });
    await gateway.untilNotReady(reason);
    assert.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200);
    assert.equal(await gateway.stop(), 0);
  });
}
