import assert from 'node:assert/strict';
import { PublishError } from '../../src/events/publisher.ts';
import { eventually } from '../helpers/eventually.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { testNeeding } from '../helpers/services.ts';
import {
  beats,
  CHANNEL,
  listensAgain,
  numbered,
  outages,
  publish,
  quiet,
  SettlingClock,
  startPod,
  TOPIC,
  untilHeard,
} from './redis-fault-pods.ts';

const test = testNeeding('redis-server');

/** Keeps Redis busy for so many ms, so that it refuses the commands of others. */
const BUSY = `
  local function now() local t = redis.call('TIME'); return t[1] * 1000 + t[2] / 1000 end
  local start = now()
  while now() - start < tonumber(ARGV[1]) do end`;

test('redis: chunks that Redis refuses while it is busy are published again, each message once and in order', async (t) => {
  const server = await startRedis(t);
  const [a, b] = [await startPod(t, server), await startPod(t, server)];
  const client = await redisAdmin(t, server);
  await client.config('SET', 'busy-reply-threshold', '5');
  await quiet(client, a, b);
  let refused = 0;
  let published = 0;
  const numbers = numbered(100_000);
  for (; refused < 5 && published < numbers.length; published += 500) {
    // Both under way at once: Redis becomes busy before, within or behind the chunk.
    const busy = client.eval(BUSY, 0, 50).catch(() => undefined);
    refused += await publish(a, numbers.slice(published, published + 500));
    await busy;
  }
  assert.ok(refused >= 5, `expected Redis to refuse some chunks, it refused ${refused}`);
  const sent = numbers.slice(0, published);
  await eventually(() => {
    for (const { heard } of [a, b]) assert.equal(heard.length, sent.length);
  });
  await untilHeard(sent, a, b);
});

test('redis: without transactions what Redis refuses is tried again by itself, and never overtaken on its channel', async (t) => {
  const server = await startRedis(t);
  const client = await redisAdmin(t, server);
  await client.acl('SETUSER', 'plain', 'on', '>secret', '~*', '&faults:*', '+@all', '-multi');
  const pod = await startPod(t, server, { user: 'plain:secret@' });
  await eventually(() => assert.deepEqual(pod.heard, ['first']));
  pod.heard.length = 0;
  const batch = [
    { channel: CHANNEL, payload: '0' },
    { channel: 'forbidden', payload: 'no' },
    { channel: CHANNEL, payload: '1' },
  ];
  await assert.rejects(pod.bus.publish(TOPIC, batch), (thrown: unknown) => {
    assert.ok(thrown instanceof PublishError);
    assert.deepEqual(
      thrown.failed.map(({ payload }) => payload),
      ['no', '1'],
    );
    return true;
  });
  await publish(pod, ['1', '2']);
  await eventually(() => assert.deepEqual(pod.heard, ['0', '1', '2']));
});

test('redis: after a restart nothing is published before all pods that come back soon listen again', async (t) => {
  const server = await startRedis(t);
  const clock = new SettlingClock();
  const [a, b] = [await startPod(t, server, { clock }), await startPod(t, server, { clock })];
  await quiet(await redisAdmin(t, server), a, b);
  await server.stop('SIGKILL');
  b.relay.refuse();
  await server.start();
  const publishing = publish(a, numbered(100));
  // One pod listens again, and waits before it publishes; now the other one may connect.
  await listensAgain(a);
  b.relay.admit();
  await listensAgain(b);
  assert.deepEqual([a.heard, b.heard], [[], []]);
  await clock.settle(publishing);
  await untilHeard(numbered(100), a, b);
});

test('redis: a blink in which nothing was published is no gap', async (t) => {
  const server = await startRedis(t);
  const pod = await startPod(t, server);
  const client = await redisAdmin(t, server);
  await quiet(client, pod);
  for (let blink = 1; blink <= 3; blink += 1) {
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(async () => {
      const count = await outages(pod);
      assert.ok(count >= blink, `expected outage ${blink}, got ${count}`);
    });
    await publish(pod, [`after ${blink}`]);
    await eventually(() => assert.equal(pod.heard.at(-1), `after ${blink}`));
    // With the first of them a gap would be told.
    await beats(client, 2);
    assert.deepEqual(pod.gaps, []);
  }
});

test('redis: a pod that was away while others published is told of a gap in that topic, and in no other', async (t) => {
  const server = await startRedis(t);
  const [a, b] = [await startPod(t, server), await startPod(t, server)];
  const client = await redisAdmin(t, server);
  await quiet(client, a, b);
  b.relay.refuse();
  await publish(a, ['missed']);
  b.relay.admit();
  await eventually(() => assert.deepEqual(b.gaps, [TOPIC]));
  // With the first of them a gap would be told.
  await beats(client, 2);
  assert.deepEqual([a.gaps, b.gaps], [[], [TOPIC]]);
});

test('redis: an event that was passed over since a pod was away is a gap for that pod', async (t) => {
  const server = await startRedis(t);
  const [a, b] = [await startPod(t, server), await startPod(t, server)];
  await b.bus.subscribe(TOPIC, 'faults:bids:id=1', () => undefined).ready;
  await quiet(await redisAdmin(t, server), a, b);
  b.relay.refuse();
  await eventually(async () => {
    const subscribed = await a.bus.subscribed(TOPIC, ['faults:bids:id=1']);
    assert.deepEqual(subscribed, new Set());
  });
  b.relay.admit();
  await eventually(() => assert.deepEqual(b.gaps, [TOPIC]));
});

for (const [state, setting, refused, taken] of [
  ['has no memory to spare', 'maxmemory', '1', '0'],
  ['has too few replicas', 'min-replicas-to-write', '1', '0'],
] as const) {
  test(`redis: a Redis that takes no writes, since it ${state}, takes events, and a lost connection is a gap`, async (t) => {
    const server = await startRedis(t);
    const [a, b] = [await startPod(t, server), await startPod(t, server)];
    const client = await redisAdmin(t, server);
    await quiet(client, a, b);
    await client.config('SET', setting, refused);
    assert.equal(await publish(a, numbered(10)), 0);
    await eventually(() => assert.deepEqual(b.heard, numbered(10)));
    b.relay.refuse();
    await publish(a, ['missed']);
    b.relay.admit();
    await eventually(() => assert.ok(b.gaps.includes(TOPIC), `expected a gap of it, got ${b.gaps.join()}`));

    // So it is for a pod that is away all the while.
    await client.config('SET', setting, taken);
    await publish(a, ['heard']);
    await eventually(() => assert.equal(b.heard.at(-1), 'heard'));
    await quiet(client, a, b);
    b.relay.refuse();
    await client.config('SET', setting, refused);
    await publish(a, ['missed too']);
    await client.config('SET', setting, taken);
    await beats(client, 2);
    b.relay.admit();
    await eventually(() => assert.deepEqual(b.gaps, [TOPIC]));
  });
}

test('redis: nothing is published to an old master that lives on as a replica', async (t) => {
  const [old, promoted] = [await startRedis(t), await startRedis(t)];
  const clock = new SettlingClock();
  const [a, b] = [await startPod(t, old, { clock }), await startPod(t, old, { clock })];
  const client = await redisAdmin(t, old);
  await quiet(client, a, b);
  await client.replicaof('127.0.0.1', promoted.port);
  await eventually(() => assert.rejects(a.bus.publish(TOPIC, [{ channel: CHANNEL, payload: 'no' }])));
  a.relay.moveTo(promoted.port);
  b.relay.moveTo(promoted.port);
  const publishing = publish(a, numbered(10));
  const admin = await redisAdmin(t, promoted);
  await eventually(async () => assert.deepEqual(await admin.pubsub('NUMSUB', CHANNEL), [CHANNEL, 2]));
  await clock.settle(publishing);
  await untilHeard(numbered(10), a, b);
  assert.ok(Number((await a.metrics.redisNotMaster.get()).values[0]?.value) >= 1);
});

test('redis: listeners on a promoted replica are told when it lacks what a publisher had published before', async (t) => {
  const [old, promoted] = [await startRedis(t), await startRedis(t)];
  const replica = await redisAdmin(t, promoted);
  await replica.replicaof('127.0.0.1', old.port);
  const [a, b] = [await startPod(t, old), await startPod(t, old)];
  await quiet(await redisAdmin(t, old), a, b);
  await eventually(async () => assert.match(await replica.info('replication'), /master_link_status:up/));
  await replica.replicaof('NO', 'ONE');
  // b goes on to the new master first, and hears nothing of what a still publishes to the old one.
  b.relay.moveTo(promoted.port);
  b.relay.cut();
  await eventually(async () => assert.notEqual(await outages(b), 0));
  await publish(b, ['by b']);
  await eventually(() => assert.equal(b.heard.at(-1), 'by b'));
  await quiet(replica, b);
  await publish(a, ['lost']);
  a.relay.moveTo(promoted.port);
  await old.stop('SIGKILL');
  await publish(a, ['by a']);
  await untilHeard(['by a'], b);
  await eventually(() => assert.deepEqual(b.gaps, [TOPIC]));
});
