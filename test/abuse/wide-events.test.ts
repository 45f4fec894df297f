import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { CompressionTypes } from 'kafkajs';
import { startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kafkaProducer } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis-server');

const EVENTS = 500;
const EVENT_BYTES = 4_096;
const KEYS = range(0, 300).map((n) => `wide-${n}`);
/** Channels that one subscription may have. */
const KEYS_OF_SUBSCRIPTION = 100;
const HONEST = 'honest';
const HONEST_EVERY_MS = 50;
/** Within which others' events come: 1 s on a machine with nothing else to do. */
const MOST_DELAY_MS = 2_000;

const SAID = 'subscription ($key: [ID!]) { said(key: $key) { n } }';

interface Said {
  readonly said: { readonly n: number };
}

const numbersOf = ({ data }: Received<Said>) => data.map((one) => one?.said.n);

/** One client of a pod that wants all the keys, and another that wants one of its own. */
async function subscribersOf(t: TestContext, pod: GatewayProcess) {
  const [wide, other] = [graphqlClient(t, pod.graphqlUrl), graphqlClient(t, pod.graphqlUrl)];
  const all: Received<Said>[] = [];
  for (let from = 0; from < KEYS.length; from += KEYS_OF_SUBSCRIPTION) {
    all.push(new Received(wide, SAID, { key: KEYS.slice(from, from + KEYS_OF_SUBSCRIPTION) }));
  }
  const honest = new Received<Said>(other, SAID, { key: [HONEST] });
  await pod.untilMetric('sluice_subscribers', all.length + 1);
  return { all, honest };
}

function wideEvent(n: number): string {
  const event = { n, key: KEYS, text: '' };
  const text = 'x'.repeat(EVENT_BYTES - JSON.stringify(event).length);
  return JSON.stringify({ ...event, text });
}

test('a burst of events under three hundred keys each ends no pod, and holds up nobody else', async (t) => {
  const topic = await createTopic(t, { partitions: 2 });
  const redis = await startRedis(t);
  const admin = await redisAdmin(t, redis);
  const graph = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { said(key: [ID!]): Said @event(topic: "${topic}", key: "key") }
      type Said { n: Int key: [ID!] }
    `,
  });
  const settings = {
    ...podSettings(topic, redis.url),
    GRAPH: graph,
    NODE_OPTIONS: '--max-old-space-size=256',
  };
  const consuming = await startReady(t, settings);
  // What it listens to it does not publish itself.
  const edge = await startReady(t, { ...settings, KAFKA_BROKERS: '' });
  const subscribers = [await subscribersOf(t, consuming), await subscribersOf(t, edge)];
  const producer = await kafkaProducer(t);

  // One batch, so that all of it is fetched at once.
  const messages = range(0, EVENTS).map((n) => ({ partition: 0, value: wideEvent(n) }));
  await producer.send({ topic, messages, compression: CompressionTypes.GZIP });
  const arrived = Promise.all(subscribers.flatMap(({ all }) => all.map((one) => one.until(EVENTS))));
  const delays: number[] = [];
  let isOver = false;
  void arrived.finally(() => (isOver = true)).catch(() => undefined);
  for (let n = 0; !isOver; n += 1) {
    const sentAt = performance.now();
    const value = JSON.stringify({ n, key: HONEST });
    await producer.send({ topic, messages: [{ partition: 1, value }] });
    await Promise.all(subscribers.map(({ honest }) => honest.until(n + 1)));
    delays.push(performance.now() - sentAt);
    await passes(HONEST_EVERY_MS);
  }
  await arrived;

  for (const { all } of subscribers)
    for (const one of all) assert.deepEqual(numbersOf(one), range(0, EVENTS));
  const most = Math.max(...delays);
  t.diagnostic(`${delays.length} events of others took ${most.toFixed(0)} ms at most`);
  assert.ok(most < MOST_DELAY_MS, `${most} ms`);
  for (const pod of [consuming, edge]) {
    assert.equal(await pod.metric('sluice_bus_outages_total'), 0);
    assert.equal(await pod.metric('sluice_gaps_total'), 0);
    assert.equal(pod.child.exitCode, null);
  }
  assert.match(await admin.info('stats'), /client_output_buffer_limit_disconnections:0\r\n/);
});
