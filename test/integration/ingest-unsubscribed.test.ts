import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat, type Line } from '../helpers/kcat.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { testNeeding, podSettings, redisUrl } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { range } from '../helpers/numbers.ts';

const test = testNeeding('kafka', 'redis', 'kcat');

interface ItemData {
  readonly item: { readonly n: number };
}

const ITEM = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

async function startPods(t: TestContext, topic: string, count: number, schema = itemSchema(topic)) {
  const folder = await graphFolder(t, { 'schema.graphql': schema });
  const pods = await Promise.all(
    Array.from({ length: count }, () =>
      startGateway(t, {
        GRAPH: folder,
        ...podSettings(topic),
        CHANNEL_LINGER_MS: '0',
      }),
    ),
  );
  await Promise.all(pods.map((pod) => pod.untilReady()));
  return pods;
}

/** The offsets that a group has committed on a topic, summed over all partitions. */
async function committedOf(t: TestContext, topic: string): Promise<() => Promise<number>> {
  const admin = kafkaClient().admin();
  await admin.connect();
  t.after(() => admin.disconnect());
  return async () => {
    const [offsets] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
    return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
  };
}

/** Everything that is published under a prefix. To be started when nothing has been published yet. */
async function overhear(t: TestContext, prefix: string): Promise<string[]> {
  const heard: string[] = [];
  const listener = new Redis(redisUrl());
  t.after(() => listener.disconnect());
  listener.on('pmessage', (_pattern: string, name: string) => {
    const channel = name.slice(prefix.length);
    // Those that begin so are the bus's own.
    if (!channel.startsWith('@')) heard.push(channel);
  });
  await listener.psubscribe(`${prefix}*`);
  return heard;
}

const events = (from: number, to: number): Line[] =>
  range(from, to).map((n) => ({ key: String(n % 10), value: JSON.stringify({ id: n % 10, n }) }));

/** Those of the first thousand events that belong to these ids. */
const wanted = (...ids: number[]) => range(0, 1_000).filter((n) => ids.includes(n % 10));

async function sumOf(pods: readonly GatewayProcess[], metric: string): Promise<number> {
  const values = await Promise.all(pods.map((pod) => pod.metric(metric)));
  return values.reduce((sum, value) => sum + value, 0);
}

const numbersOf = (received: Received<ItemData>): number[] =>
  received.data.map((data) => data?.item.n ?? NaN);

test('events without a subscriber are counted and committed, not published; a subscriber that joins gets all events from then on', async (t) => {
  const topic = await createTopic(t, { partitions: 2 });
  const pods = await startPods(t, topic, 1);
  const [pod] = pods as [GatewayProcess];
  const committed = await committedOf(t, topic);
  const heard = await overhear(t, `${topic}:`);
  const publisher = new Redis(redisUrl());
  t.after(() => publisher.disconnect());

  await kcat(t, topic, events(0, 1_000));
  await pod.untilMetric('sluice_unsubscribed_events_total', 1_000);
  await eventually(async () => assert.equal(await committed(), 1_000));
  assert.equal(await pod.metric('sluice_events_total'), 1_000);
  assert.equal(await pod.metric('sluice_publishes_total'), 0);
  assert.deepEqual(heard, []);

  const received = new Received<ItemData>(graphqlClient(t, pod.graphqlUrl), ITEM, { id: [3] });
  await pod.untilMetric('sluice_subscribers', 1);
  await kcat(t, topic, events(1_000, 2_000));
  await received.until(100);
  await eventually(async () => assert.equal(await committed(), 2_000));
  assert.deepEqual(
    numbersOf(received),
    range(1_000, 2_000).filter((n) => n % 10 === 3),
  );
  assert.equal(await pod.metric('sluice_publishes_total'), 100);
  assert.equal(await pod.metric('sluice_unsubscribed_events_total'), 1_900);
  await eventually(() => assert.equal(heard.length, 100));
  assert.deepEqual(new Set(heard), new Set([`${topic}:id=3`]));

  received.stop();
  await pod.untilMetric('sluice_channels', 0);
  await kcat(t, topic, events(2_000, 2_100));
  await pod.untilMetric('sluice_unsubscribed_events_total', 2_000);
  await eventually(async () => assert.equal(await committed(), 2_100));
  // Redis hands over what was published before this first.
  await publisher.publish(`${topic}:marker`, '');
  await eventually(() => assert.equal(heard.at(-1), 'marker'));
  assert.equal(heard.length, 101);
});

test('a subscriber gets its events from both pods that consume them, and each pod skips events without a subscriber on either pod', async (t) => {
  const topic = await createTopic(t, { partitions: 6 });
  const pods = await startPods(t, topic, 2);
  const [one, other] = pods as [GatewayProcess, GatewayProcess];
  const all = new Received<ItemData>(graphqlClient(t, one.graphqlUrl), ITEM, { id: [1, 2] });
  const some = new Received<ItemData>(graphqlClient(t, other.graphqlUrl), ITEM, { id: [2, 3, 4] });
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 1)));

  await kcat(t, topic, events(0, 1_000));
  await all.until(200);
  await some.until(300);
  assert.deepEqual(
    numbersOf(all).toSorted((a, b) => a - b),
    wanted(1, 2),
  );
  assert.deepEqual(
    numbersOf(some).toSorted((a, b) => a - b),
    wanted(2, 3, 4),
  );
  await eventually(async () => assert.equal(await sumOf(pods, 'sluice_unsubscribed_events_total'), 600));
  assert.equal(await sumOf(pods, 'sluice_publishes_total'), 400);
  // Both pods listen for id 2.
  assert.equal(await sumOf(pods, 'sluice_messages_total'), 500);
  assert.equal(await sumOf(pods, 'sluice_events_total'), 1_000);
});

test('keyFrom: KAFKA_KEY: messages without a subscriber are not parsed, events with one arrive', async (t) => {
  const topic = await createTopic(t);
  const schema = `
      type Subscription { item(id: [ID!]): Item @event(topic: "${topic}", key: "id", keyFrom: KAFKA_KEY) }
      type Item { id: ID! n: Int }
    `;
  const [pod] = (await startPods(t, topic, 1, schema)) as [GatewayProcess];
  const received = new Received<ItemData>(graphqlClient(t, pod.graphqlUrl), ITEM, { id: [3] });
  await pod.untilMetric('sluice_subscribers', 1);
  // The first message is parsed in any case, to find out whether its Kafka key is that of the event.
  await kcat(t, topic, events(0, 50));
  await kcat(t, topic, [
    { key: '1', value: 'no JSON, and without a subscriber' },
    { key: '3', value: 'no JSON, and with a subscriber' },
  ]);
  await kcat(t, topic, events(50, 60));
  await received.until(6);
  assert.deepEqual(numbersOf(received), [3, 13, 23, 33, 43, 53]);
  await pod.untilMetric('sluice_unsubscribed_events_total', 55);
  assert.equal(await pod.metric('sluice_dead_letters_total'), 1);
  assert.equal(await pod.metric('sluice_kafka_key_mismatches_total'), 0);
});
