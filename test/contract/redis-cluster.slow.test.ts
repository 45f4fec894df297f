import assert from 'node:assert/strict';
import { before } from 'node:test';
import { NodeListening } from '../../src/bus/redis/cluster/node-listening.ts';
import { Places } from '../../src/bus/redis/cluster/places.ts';
import type { PublishError } from '../../src/events/publisher.ts';
import { createLog } from '../../src/log.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { upTo } from '../helpers/numbers.ts';
import type { RedisServer } from '../helpers/redis.ts';
import { startCluster, type RedisCluster } from '../helpers/redis-cluster.ts';
import { fileScope } from '../helpers/scope.ts';
import { needs, testNeeding } from '../helpers/services.ts';
import { testBus } from './bus.ts';
import { event, numberIn, TOPIC } from './history.ts';
import { testHistories } from './keeping.ts';
import { addressOf, createBus, PREFIX, startBus, started } from './redis-buses.ts';
import { listenToStream, STREAMED, STREAMED_TOPICS, streamThrough } from './redis-stream.ts';

const test = testNeeding('redis-server');

const CHANNELS = 10_000;
const OPTIONS = needs('redis-server');
const scope = fileScope();
/** For tests that do not disturb it. */
let shared: RedisCluster;
if (OPTIONS.skip === false) before(async () => void (shared = await startCluster(scope)));

const accessOf = ({ nodes }: RedisCluster, spread: readonly string[] = []) => ({
  nodes: nodes.map(addressOf),
  spread: new Set(spread),
});

for (const spread of [[], ['topic']]) {
  testBus(spread.length > 0 ? 'redis cluster, spread' : 'redis cluster', OPTIONS, async (t, settings) => {
    const places = new Places(PREFIX, new Set(spread));
    const joins = async (channel: string) => {
      const counts = await Promise.all(
        shared.clients.map((client) => client.pubsub('SHARDNUMSUB', places.of('topic', channel).channel)),
      );
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    return { ...(await startBus(t, accessOf(shared, spread), settings)), joins };
  });
}
testHistories('redis cluster', OPTIONS, async (t, histories) => {
  for (const client of shared.clients) await client.flushall();
  return (await startBus(t, accessOf(shared), { histories })).bus;
});

test('redis cluster: an announcement reaches every pod, and one that starts later', async (t) => {
  const heard: string[][] = [];
  const start = async () => {
    const own: string[] = [];
    heard.push(own);
    const bus = createBus(accessOf(shared)).bus;
    bus.onAnnouncement((text) => own.push(text));
    return started(t, bus);
  };
  const [announcing] = [await start(), await start()];
  await eventually(() => announcing.announce('one', 60_000));
  await start();
  await eventually(() => {
    for (const own of heard) assert.ok(own.includes('one'), JSON.stringify(heard));
  });
});

test('redis cluster: what one pod knows and the cluster has lost is announced again, once the pod listens again', async (t) => {
  const cluster = await startCluster(t);
  const access = accessOf(cluster);
  const known: string[] = [];
  const { bus } = createBus(access);
  bus.onAnnouncement((text) => known.push(text), { texts: () => [...new Set(known)], keepMs: 60_000 });
  await started(t, bus);
  await eventually(() => bus.announce('one', 60_000));
  await eventually(() => assert.ok(known.includes('one')));
  for (const client of cluster.clients) await client.flushall();
  await cluster.move('@revocations');
  await eventually(async () => {
    const keys = await Promise.all(cluster.clients.map((client) => client.keys(`${PREFIX}@revocations*`)));
    assert.equal(keys.flat().length, 1);
  });
  const heard: string[] = [];
  const later = createBus(access).bus;
  later.onAnnouncement((text) => heard.push(text));
  await started(t, later);
  await eventually(() => assert.deepEqual(heard, ['one']));
});

/** The channels of these names that each master has. */
const channelsByMaster = (pattern: string) =>
  Promise.all(shared.clients.map((client) => client.pubsub('SHARDCHANNELS', pattern) as Promise<string[]>));

test('redis cluster: topics are spread over the nodes, by their names', async (t) => {
  const { bus } = await startBus(t, accessOf(shared));
  const topics = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const topic of topics) await bus.subscribe(topic, PREFIX + topic, () => undefined).ready;
  const channels = await channelsByMaster(`${PREFIX}{*}`);
  assert.deepEqual(
    channels.flat().toSorted(),
    topics.map((topic) => `${PREFIX}{${topic}}`),
  );
  assert.ok(channels.filter((some) => some.length > 0).length > 1, JSON.stringify(channels));
});

test('redis cluster: the channels of a topic that is spread are, over all masters within 10 %', async (t) => {
  const { bus } = await startBus(t, accessOf(shared, ['orders']));
  const channels = upTo(CHANNELS).map((id) => `${PREFIX}orders:id=${id}`);
  await Promise.all(channels.map((channel) => bus.subscribe('orders', channel, () => undefined).ready));
  const counts = (await channelsByMaster(`${PREFIX}{orders/*}:*`)).map(({ length }) => length);
  const fair = CHANNELS / counts.length;
  for (const count of counts) assert.ok(Math.abs(count - fair) <= 0.1 * fair, JSON.stringify(counts));
});

test('redis cluster: of a topic that is spread, what one master does not take is published again, and nothing else', async (t) => {
  const cluster = await startCluster(t);
  const { bus } = await startBus(t, accessOf(cluster, ['orders']));
  const inboxes = await Promise.all(
    upTo(50).map(async (id) => {
      const inbox = new Inbox();
      await bus.subscribe('orders', `${PREFIX}orders:id=${id}`, inbox.take).ready;
      return inbox;
    }),
  );
  const batch = upTo(50).map((id) => ({ channel: `${PREFIX}orders:id=${id}`, payload: String(id) }));
  await bus.publish('orders', batch);
  const hung = await cluster.masterOf(new Places(PREFIX, new Set(['orders'])).wordsOf('orders')[0] ?? '');
  hung.signal('SIGSTOP');
  const failed = await bus.publish('orders', batch).then(
    () => [],
    (thrown: unknown) => (thrown as PublishError).failed,
  );
  hung.signal('SIGCONT');
  assert.ok(failed.length > 0 && failed.length < batch.length, String(failed.length));
  const again = new Set(failed);
  assert.deepEqual(
    failed,
    batch.filter((one) => again.has(one)),
  );
  const others = batch.flatMap((one, index) => (again.has(one) ? [] : [inboxes[index]]));
  for (const inbox of others) assert.equal((await inbox?.until(2))?.length, 2);
});

test('redis cluster: a slot that has gone and come back at once has its listeners again, though none are counted', async (t) => {
  const cluster = await startCluster(t);
  const { bus } = await startBus(t, accessOf(cluster), { histories: STREAMED, countsSubscribers: false });
  const inbox = new Inbox();
  // Both are on one node, so that heartbeats of the other one keep its connection busy.
  const [topic, other] = STREAMED_TOPICS;
  await bus.subscribe(topic, PREFIX + topic, inbox.take).ready;
  await bus.subscribe(other, PREFIX + other, () => undefined).ready;
  const master = await cluster.masterOf(topic);
  assert.equal(await cluster.masterOf(other), master);
  await bus.publish(topic, event(1, PREFIX + topic));
  await inbox.until(1);
  await cluster.move(topic);
  await cluster.move(topic);
  assert.equal(await cluster.masterOf(topic), master);
  await eventually(() => bus.publish(topic, event(2, PREFIX + topic)));
  await eventually(() => assert.deepEqual(inbox.messages.map(numberIn), [1, 2]));
});

test('redis cluster: channels that a node has unsubscribed are told from those that it has not, where it only refuses one', async (t) => {
  const cluster = await startCluster(t);
  const [topic] = STREAMED_TOPICS;
  const master = await cluster.masterOf(topic);
  const others = ['a', 'b', 'c', 'd', 'e', 'f'];
  const owners = await Promise.all(others.map((word) => cluster.masterOf(word)));
  const elsewhere = others[owners.findIndex((owner) => owner !== master)] ?? assert.fail();
  const told: boolean[] = [];
  const [own, foreign] = [`{${topic}}:own`, `{${elsewhere}}:foreign`];
  const listening = new NodeListening({
    access: { address: addressOf(`127.0.0.1:${master.port}`), tls: false },
    log: createLog('silent'),
    onMoved: (isSubscribed) => told.push(isSubscribed(own)),
  });
  t.after(() => listening.stop());
  await new Promise<void>((resolve) => listening.start({ onReady: resolve, onLost: () => undefined }));
  await listening.join(new Map([[own, () => undefined]]));
  await assert.rejects(listening.join(new Map([[foreign, () => undefined]])), /MOVED/);
  await eventually(() => assert.equal(told.at(-1), true));
  await cluster.move(topic);
  await eventually(() => assert.equal(told.at(-1), false));
});

const FAULTS: Record<string, (cluster: RedisCluster, master: RedisServer) => Promise<unknown>> = {
  'is killed': async (cluster, master) => {
    await master.stop('SIGKILL');
    return cluster.replaced(TOPIC, master);
  },
  hangs: (cluster, master) => {
    master.signal('SIGSTOP');
    return cluster.replaced(TOPIC, master);
  },
  'becomes a replica': async (cluster, master) => {
    await cluster.failover(TOPIC);
    return cluster.replaced(TOPIC, master);
  },
  'gives the slots of the topics to another one': async (cluster) => {
    for (const topic of STREAMED_TOPICS) await cluster.move(topic);
  },
};

for (const [fault, happen] of Object.entries(FAULTS)) {
  test(`redis cluster: when a master ${fault}, pods go on with the next one, and what they miss is read or told`, async (t) => {
    const cluster = await startCluster(t, { replicas: 1 });
    const start = async () => listenToStream(await startBus(t, accessOf(cluster), { histories: STREAMED }));
    await streamThrough([await start(), await start()], async () =>
      happen(cluster, await cluster.masterOf(TOPIC)),
    );
  });
}
