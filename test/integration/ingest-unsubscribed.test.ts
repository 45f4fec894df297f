import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startReady, sumOf, type GatewayProcess } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { committedBy, kafkaAdmin } from '../helpers/kafka-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range, sorted } from '../helpers/numbers.ts';
import { redisAdmin } from '../helpers/redis.ts';
import { podSettings, redisUrl, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis', 'kcat');

async function startPods(t: TestContext, topic: string, count = 1) {
  const GRAPH = await itemGraph(t, topic);
  const settings = { GRAPH, ...podSettings(topic), CHANNEL_LINGER_MS: '0' };
  return Promise.all(range(0, count).map(() => startReady(t, settings)));
}

const toItems = (t: TestContext, pod: GatewayProcess, ...id: number[]) =>
  subscribed(t, pod, { query: 'subscription ($id: [ID!]) { item(id: $id) { n } }', variables: { id } });

/** Everything that is published under a prefix. To be started when nothing has been published yet. */
async function overhear(t: TestContext, prefix: string): Promise<string[]> {
  const heard: string[] = [];
  const listener = await redisAdmin(t, { url: redisUrl() });
  listener.on('pmessage', (_pattern: string, name: string) => {
    const channel = name.slice(prefix.length);
    // Those that begin so are the bus's own.
    if (!channel.startsWith('@')) heard.push(channel);
  });
  await listener.psubscribe(`${prefix}*`);
  return heard;
}

const events = (from: number, to: number) => itemLines(range(from, to), (n) => n % 10);

/** Returns the events that belong to these ids. */
const wanted = (from: number, to: number, ...ids: number[]) =>
  range(from, to).filter((n) => ids.includes(n % 10));

test('events without a subscriber are counted and committed, not published; a subscriber that joins gets all events from then on', async (t) => {
  const topic = await createTopic(t, { partitions: 2 });
  const [pod] = (await startPods(t, topic)) as [GatewayProcess];
  const admin = await kafkaAdmin(t);
  const committed = (total: number) =>
    eventually(async () => assert.equal(await committedBy(admin, topic, topic), total));
  const heard = await overhear(t, `${topic}:`);
  const publisher = await redisAdmin(t, { url: redisUrl() });

  await kcat(t, topic, events(0, 1_000));
  await pod.untilMetric('sluice_unsubscribed_events_total', 1_000);
  await committed(1_000);
  assert.equal(await pod.metric('sluice_events_total'), 1_000);
  assert.equal(await pod.metric('sluice_publishes_total'), 0);
  assert.deepEqual(heard, []);

  const received = await toItems(t, pod, 3);
  await kcat(t, topic, events(1_000, 2_000));
  await received.until(100);
  await committed(2_000);
  assert.deepEqual(numbersOf(received), wanted(1_000, 2_000, 3));
  assert.equal(await pod.metric('sluice_publishes_total'), 100);
  assert.equal(await pod.metric('sluice_unsubscribed_events_total'), 1_900);
  await eventually(() => assert.equal(heard.length, 100));
  assert.deepEqual(new Set(heard), new Set([`${topic}:id=3`]));

  received.stop();
  await pod.untilMetric('sluice_channels', 0);
  await kcat(t, topic, events(2_000, 2_100));
  await pod.untilMetric('sluice_unsubscribed_events_total', 2_000);
  await committed(2_100);
  // Redis hands over what was published before this first.
  await publisher.publish(`${topic}:marker`, '');
  await eventually(() => assert.equal(heard.at(-1), 'marker'));
  assert.equal(heard.length, 101);
});

test('a subscriber gets its events from both pods that consume them, and each pod skips events without a subscriber on either pod', async (t) => {
  const topic = await createTopic(t, { partitions: 6 });
  const pods = await startPods(t, topic, 2);
  const [one, other] = pods as [GatewayProcess, GatewayProcess];
  const subscribers = [
    { received: await toItems(t, one, 1, 2), expected: wanted(0, 1_000, 1, 2) },
    { received: await toItems(t, other, 2, 3, 4), expected: wanted(0, 1_000, 2, 3, 4) },
  ];

  await kcat(t, topic, events(0, 1_000));
  for (const { received, expected } of subscribers) {
    await received.until(expected.length);
    assert.deepEqual(sorted(numbersOf(received)), expected);
  }
  await eventually(async () => assert.equal(await sumOf(pods, 'sluice_unsubscribed_events_total'), 600));
  assert.equal(await sumOf(pods, 'sluice_publishes_total'), 400);
  // Both pods listen for id 2.
  assert.equal(await sumOf(pods, 'sluice_messages_total'), 500);
  assert.equal(await sumOf(pods, 'sluice_events_total'), 1_000);
});
