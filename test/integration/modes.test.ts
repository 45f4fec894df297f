import assert from 'node:assert/strict';
import test from 'node:test';
import { startGateway, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { kafkaAdmin } from '../helpers/kafka-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range, sorted, upTo } from '../helpers/numbers.ts';
import { kafkaBrokers, podSettings, redisUrl, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

/** A test with Kafka or Redis. */
const it = testNeeding('kafka', 'redis', 'kcat');

it('with Kafka alone, each process gets all events, in a consumer group of its own', async (t) => {
  const topic = await createTopic(t, { partitions: 3 });
  const GRAPH = await itemGraph(t, topic);
  const settings = { GRAPH, KAFKA_BROKERS: kafkaBrokers(), KAFKA_GROUP_ID: topic };
  const pods = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  const subscribers = await Promise.all(pods.map((pod) => subscribed(t, pod)));
  const sent = range(0, 30);
  await kcat(
    t,
    topic,
    itemLines(sent, (n) => n),
  );
  for (const received of subscribers) {
    await received.until(sent.length);
    assert.deepEqual(sorted(numbersOf(received)), sent);
  }
  const { groups } = await (await kafkaAdmin(t)).listGroups();
  assert.equal(groups.filter(({ groupId }) => groupId.startsWith(topic)).length, pods.length);
  for (const pod of pods) assert.equal(await pod.stop(), 0);
});

it('with Redis alone, a pod (an edge) delivers the events that another pod consumes, in order', async (t) => {
  const topic = await createTopic(t);
  const shared = { GRAPH: await itemGraph(t, topic), REDIS_URL: redisUrl(), REDIS_PREFIX: `${topic}:` };
  const [edge] = await Promise.all([
    startReady(t, shared),
    startReady(t, { ...shared, ...podSettings(topic) }),
  ]);
  const received = await subscribed(t, edge);
  await kcat(t, topic, itemLines(upTo(500)));
  await received.until(500);
  assert.deepEqual(numbersOf(received), upTo(500));
  assert.equal(await edge.metric('sluice_events_total'), 0);
  assert.equal((await postJson(`${edge.httpUrl}/events/${topic}`, {})).status, 404);
});

for (const [what, settings, reason] of [
  ['no Kafka', { KAFKA_BROKERS: '127.0.0.1:1' }, /Kafka has not been reached yet: .*ECONNREFUSED/],
  ['neither Kafka nor Redis', { KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' }, /Redis/],
] as const) {
  test(`a pod that reaches ${what} starts, is alive, says why it is not ready, and stops`, async (t) => {
    const gateway = await startGateway(t, { GRAPH: await itemGraph(t, 'items'), ...settings });
    await gateway.untilNotReady(reason);
    assert.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200);
    assert.equal(await gateway.stop(), 0);
  });
}
