import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import type { Redis } from 'ioredis';
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
/** Within which others' events come: they took 1.6 and 2.8 s on two cores where 13 and 21 processes wanted to run. */
const MOST_DELAY_MS = 5_000;

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

/** That Redis has accepted. */
async function connectionsOf(admin: Redis): Promise<number> {
  return Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))?.[1]);
}

/** Rejects when the pod ends, with what it said last. */
async function untilEnded(pod: GatewayProcess): Promise<never> {
  const [code, signal] = (await once(pod.child, 'exit')) as [number | null, string | null];
  throw new Error(`a pod ended with ${code ?? signal}: ${/FATAL ERROR.*/.exec(pod.stderr)?.[0] ?? ''}`);
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
  const connections = await connectionsOf(admin);
  const producer = await kafkaProducer(t);
  const ended = Promise.race([consuming, edge].map(untilEnded));

  // One batch, so that all of it is fetched at once.
  const messages = range(0, EVENTS).map((n) => ({ partition: 0, value: wideEvent(n) }));
  await producer.send({ topic, messages, compression: CompressionTypes.GZIP });
  const arrived = Promise.all(subscribers.flatMap(({ all }) => all.map((one) => one.until(EVENTS))));
  const delays: number[] = [];
  const over = new AbortController();
  arrived.then(
    () => over.abort(),
    () => over.abort(),
  );
  for (let n = 0; !over.signal.aborted; n += 1) {
    const sentAt = performance.now();
    const value = JSON.stringify({ n, key: HONEST });
    await producer.send({ topic, messages: [{ partition: 1, value }] });
    await Promise.race([Promise.all(subscribers.map(({ honest }) => honest.until(n + 1))), ended]);
    delays.push(performance.now() - sentAt);
    await passes(HONEST_EVERY_MS);
  }
  await Promise.race([arrived, ended]);

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
  assert.equal(await connectionsOf(admin), connections, 'Redis has cut none');
});
