import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import type { Bus } from '../../src/bus/bus.ts';
import { positionOf } from '../../src/bus/history.ts';
import { eventually } from '../helpers/eventually.ts';
import { range, upTo } from '../helpers/numbers.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { needs, testNeeding } from '../helpers/services.ts';
import { event, numberIn, SIZE, testHistory, testKeepingAll, TOPIC } from './history.ts';
import { testReplacedHistories } from './keeping.ts';
import { CHANNEL, listen, PREFIX, startBus } from './redis-history-bus.ts';

const test = testNeeding('redis-server');

/** Takes longer than to connect again. */
const EVENTS_PER_BLINK = 12;
const VERSION_KEY = `${PREFIX}@version:${TOPIC}`;

const epochOf = async (bus: Bus): Promise<string> =>
  (await bus.readHistory(TOPIC, [CHANNEL], 0)).position.epoch;

/** Ten events, each in a call of its own, none of which waits for another. */
const publishTen = (bus: Bus, first: number): Promise<unknown> =>
  Promise.all(
    range(first, first + 10).map((o) =>
      bus.publish(TOPIC, [{ channel: CHANNEL, payload: JSON.stringify({ o }) }]),
    ),
  );

/** Meanwhile Redis takes no writes. */
async function withoutMemory(client: Redis, run: () => Promise<unknown>): Promise<void> {
  await client.config('SET', 'maxmemory', '1');
  await run();
  await client.config('SET', 'maxmemory', '0');
}

/** From another partition than `event`. */
const otherEvent = (n: number, channel: string) =>
  event(100 + n, channel).map((publication) => ({
    ...publication,
    source: { topicId: undefined, partition: 1, offset: n },
  }));

testHistory('redis', needs('redis-server'), async (t, ttlMs) =>
  startBus(t, (await startRedis(t)).port, { ttlMs }),
);

testKeepingAll('redis', needs('redis-server'), async (t, ttlMs) =>
  startBus(t, (await startRedis(t)).port, { ttlMs, keepsAll: true }),
);

testReplacedHistories('redis', needs('redis-server'), async (t, ttlMs) =>
  startBus(t, (await startRedis(t)).port, { ttlMs }),
);

test('redis: an event that is published again is neither kept nor heard twice', async (t) => {
  const { bus, inbox } = await listen(t, await startRedis(t));
  await bus.publish(TOPIC, [...event(1, CHANNEL), ...event(2, CHANNEL)]);
  await bus.publish(TOPIC, [...event(2, CHANNEL), ...event(3, CHANNEL)]);
  await bus.publish(TOPIC, event(1, CHANNEL));
  await bus.publish(TOPIC, event(4, CHANNEL));
  assert.deepEqual((await inbox.until(4)).map(numberIn), [1, 2, 3, 4]);
  const { channels } = await bus.readHistory(TOPIC, [CHANNEL], 0);
  assert.deepEqual(channels[0]?.messages.map(numberIn), [1, 2, 3, 4]);
});

test('redis: two pods that publish give each event a position of its own', async (t) => {
  const server = await startRedis(t);
  const [one, other] = [await listen(t, server), await startBus(t, server.port)];
  await Promise.all([publishTen(one.bus, 0), publishTen(other, 100)]);
  const sequences = (await one.inbox.until(20)).map((payload) => positionOf(payload)?.sequence);
  assert.deepEqual(sequences, upTo(20));
});

test('redis: what another version of the gateway publishes without history ends the epoch', async (t) => {
  const server = await startRedis(t);
  const { bus, inbox } = await listen(t, server);
  const older = await startBus(t, server.port, { hasHistory: false });
  await bus.publish(TOPIC, event(1, CHANNEL));
  const before = await epochOf(bus);
  assert.equal(await epochOf(bus), before);
  await older.publish(TOPIC, event(2, CHANNEL));
  assert.deepEqual((await inbox.until(2)).map(numberIn), [1, 2]);
  const after = await epochOf(bus);
  assert.notEqual(after, before);
  await bus.publish(TOPIC, event(3, CHANNEL));
  assert.equal(positionOf((await inbox.until(3))[2] ?? '')?.epoch, after);
});

test('redis: a connection that is lost while others publish loses nothing', async (t) => {
  const server = await startRedis(t);
  const pod = await listen(t, server);
  const other = await startBus(t, server.port);
  const client = await redisAdmin(t, server);
  await other.publish(TOPIC, event(1, CHANNEL));
  await pod.inbox.until(1);
  let n = 1;
  for (let blink = 0; blink < 5; blink += 1) {
    const publishing = async (): Promise<void> => {
      for (let count = 0; count < EVENTS_PER_BLINK; count += 1) {
        n += 1;
        // It can't publish either before it listens again.
        await eventually(() => other.publish(TOPIC, event(n, CHANNEL)));
      }
    };
    await Promise.all([client.call('CLIENT', 'KILL', 'TYPE', 'pubsub'), publishing()]);
    await eventually(() => assert.equal(numberIn(pod.inbox.messages.at(-1) ?? '{}'), n));
  }
  assert.deepEqual(pod.inbox.messages.map(numberIn), upTo(n));
  assert.deepEqual(pod.gaps, []);
});

test('redis: a pod that is cut off reads what it has missed, in order, each once', async (t) => {
  const server = await startRedis(t);
  const pod = await listen(t, server);
  const other = await startBus(t, server.port);
  await other.publish(TOPIC, event(1, CHANNEL));
  await pod.inbox.until(1);
  await pod.cutOff();
  for (let n = 2; n <= SIZE; n += 1) await other.publish(TOPIC, event(n, CHANNEL));
  pod.relay.admit();
  await eventually(() => assert.equal(pod.inbox.messages.length, SIZE));
  await other.publish(TOPIC, event(SIZE + 1, CHANNEL));
  assert.deepEqual((await pod.inbox.until(SIZE + 1)).map(numberIn), upTo(SIZE + 1));
  assert.deepEqual(pod.gaps, []);
});

test('redis: a pod that was cut off for more than is kept tells the gap before it goes on', async (t) => {
  const server = await startRedis(t);
  const pod = await listen(t, server);
  const other = await startBus(t, server.port);
  await other.publish(TOPIC, event(1, CHANNEL));
  await pod.inbox.until(1);
  await pod.cutOff();
  for (let n = 2; n <= 3 * SIZE; n += 1) await other.publish(TOPIC, event(n, CHANNEL));
  pod.relay.admit();
  await eventually(() => assert.deepEqual(pod.gaps, [TOPIC]));
  await eventually(() => other.publish(TOPIC, event(100, CHANNEL)));
  assert.equal(numberIn((await pod.inbox.until(2))[1] ?? ''), 100);
});

test('redis: a server that has lost its data begins another epoch', async (t) => {
  const server = await startRedis(t);
  const { bus, inbox } = await listen(t, server);
  await bus.publish(TOPIC, event(1, CHANNEL));
  await inbox.until(1);
  const before = await epochOf(bus);
  await (await redisAdmin(t, server)).flushall();
  await bus.publish(TOPIC, event(2, CHANNEL));
  assert.notEqual(await epochOf(bus), before);
  assert.deepEqual((await inbox.until(2)).map(numberIn), [1, 2]);
});

test('redis: a server whose history ends before what was heard has lost messages, which is told as a gap', async (t) => {
  const server = await startRedis(t);
  const { bus, inbox, gaps } = await listen(t, server);
  const client = await redisAdmin(t, server);
  for (let n = 1; n <= 3; n += 1) await bus.publish(TOPIC, event(n, CHANNEL));
  await inbox.until(3);
  // As a replica has it that lacks the last writes.
  await client.hset(`${PREFIX}@history:{${TOPIC}}`, 'seq', 2);
  const before = await client.hget(`${PREFIX}@history:{${TOPIC}}`, 'epoch');
  await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await eventually(() => assert.deepEqual(gaps, [TOPIC]));
  assert.notEqual(await epochOf(bus), before);
});

test('redis: nothing is read while Redis has no memory, since what is published then is not kept', async (t) => {
  const server = await startRedis(t);
  const { bus, inbox, gaps } = await listen(t, server);
  const other = await startBus(t, server.port);
  const client = await redisAdmin(t, server);
  await other.publish(TOPIC, event(1, CHANNEL));
  await withoutMemory(client, async () => {
    await assert.rejects(bus.readHistory(TOPIC, [CHANNEL], 0), { name: 'NoHistory' });
    await other.publish(TOPIC, event(2, CHANNEL));
  });
  await bus.readHistory(TOPIC, [CHANNEL], 0);
  assert.deepEqual((await inbox.until(2)).map(numberIn), [1, 2]);
  // The pod that has published it notices that Redis takes writes again.
  await eventually(() => assert.deepEqual(gaps, [TOPIC]));
});

test('redis: what was published while Redis had no memory ends the epoch, though the next event comes at once', async (t) => {
  const server = await startRedis(t);
  const { bus } = await listen(t, server);
  const client = await redisAdmin(t, server);
  await bus.publish(TOPIC, event(1, CHANNEL));
  const before = await epochOf(bus);
  await withoutMemory(client, () => bus.publish(TOPIC, event(2, CHANNEL)));
  await bus.publish(TOPIC, event(3, CHANNEL));
  assert.notEqual(await epochOf(bus), before);
});

test('redis: a list that Redis has evicted is told to be incomplete', async (t) => {
  const server = await startRedis(t);
  const { bus } = await listen(t, server);
  await bus.publish(TOPIC, event(1, CHANNEL));
  const client = await redisAdmin(t, server);
  const [list = ''] = await client.keys(`${PREFIX}@history:{${TOPIC}}:*`);
  await client.del(list);
  await bus.publish(TOPIC, event(2, CHANNEL));
  const { channels, position } = await bus.readHistory(TOPIC, [CHANNEL], 0);
  assert.deepEqual(channels, [{ channel: CHANNEL, from: position.sequence, messages: [] }]);
});

test('redis: more is read than Redis reads in one go, each channel once', async (t) => {
  const { bus } = await listen(t, await startRedis(t));
  const channels = Array.from({ length: 600 }, (_, index) => `${CHANNEL}${index}`);
  await Promise.all(channels.map((channel) => bus.subscribe(TOPIC, channel, () => undefined).ready));
  for (let n = 1; n <= SIZE; n += 1) await bus.publish(TOPIC, event(n, ...channels));
  const read = await bus.readHistory(TOPIC, channels, 0);
  const every = upTo(SIZE);
  assert.deepEqual(
    read.channels.map(({ channel, messages }) => [channel, messages.map(numberIn)]),
    channels.map((channel) => [channel, every]),
  );
});

test('redis: one call asks for more channels than Redis looks at in one go', async (t) => {
  const { bus } = await listen(t, await startRedis(t));
  const channels = upTo(1_200).map((n) => `${CHANNEL}${n}`);
  const joined = [channels[3], channels[700], channels[1_199]].map((channel) => channel ?? '');
  await Promise.all(joined.map((channel) => bus.subscribe(TOPIC, channel, () => undefined).ready));
  assert.deepEqual([...(await bus.subscribed(TOPIC, channels))], joined);
  await bus.publish(TOPIC, event(1, ...joined));
  const read = await bus.readHistory(TOPIC, joined, 0);
  assert.deepEqual(
    read.channels.map(({ messages }) => messages.map(numberIn)),
    [[1], [1], [1]],
  );
});

test('redis: while Redis takes no writes, events are published without history, and the epoch ends', async (t) => {
  const server = await startRedis(t);
  const { bus, inbox } = await listen(t, server);
  const client = await redisAdmin(t, server);
  await bus.publish(TOPIC, event(1, CHANNEL));
  const before = await epochOf(bus);
  // Before the pod's heartbeat can give the topic another one.
  const version = await client.get(VERSION_KEY);
  await withoutMemory(client, () => bus.publish(TOPIC, event(2, CHANNEL)));
  assert.deepEqual((await inbox.until(2)).map(numberIn), [1, 2]);
  await eventually(async () => assert.notEqual(await client.get(VERSION_KEY), version));
  assert.notEqual(await epochOf(bus), before);
});

test('redis: a pod that hears another epoch begin keeps its channels in that one', async (t) => {
  const server = await startRedis(t);
  const pod = await listen(t, server);
  const other = await startBus(t, server.port);
  const older = await startBus(t, server.port, { hasHistory: false });
  const client = await redisAdmin(t, server);
  await other.publish(TOPIC, event(1, CHANNEL));
  await older.publish(TOPIC, event(2, CHANNEL)); // Ends the epoch.
  await other.publish(TOPIC, event(3, CHANNEL)); // The first of the next one.
  await pod.inbox.until(3);
  const epoch = positionOf(pod.inbox.messages[2] ?? '')?.epoch;
  const list = `${PREFIX}@history:{${TOPIC}}:${epoch}:${CHANNEL}`;
  await eventually(async () => assert.equal(await client.exists(list), 1));
  await pod.cutOff();
  await other.publish(TOPIC, event(4, CHANNEL));
  pod.relay.admit();
  assert.deepEqual((await pod.inbox.until(4)).map(numberIn), [1, 2, 3, 4]);
  assert.deepEqual(pod.gaps, []);
});

test('redis: a server that comes back with its data tells no gap, though two pods have published', async (t) => {
  const server = await startRedis(t, { keeps: true });
  const [one, other] = [await listen(t, server), await listen(t, server)];
  await one.bus.publish(TOPIC, event(1, CHANNEL));
  await other.bus.publish(TOPIC, otherEvent(1, CHANNEL));
  const epoch = await epochOf(one.bus);
  await server.stop('SIGKILL');
  await server.start();
  await eventually(() => one.bus.publish(TOPIC, event(2, CHANNEL)));
  await eventually(() => other.bus.publish(TOPIC, otherEvent(2, CHANNEL)));
  for (const pod of [one, other]) {
    assert.deepEqual((await pod.inbox.until(4)).map(numberIn), [1, 101, 2, 102]);
    assert.deepEqual(pod.gaps, []);
  }
  assert.equal(await epochOf(one.bus), epoch);
});

test('redis: a server that lacks the last writes begins another epoch with the next event, and says so', async (t) => {
  const server = await startRedis(t);
  const [one, other] = [await listen(t, server), await listen(t, server)];
  for (const n of [1, 2, 3]) await one.bus.publish(TOPIC, event(n, CHANNEL));
  const epoch = await epochOf(one.bus);
  const client = await redisAdmin(t, server);
  // As a replica is that has been promoted before it had the last event.
  const state = `${PREFIX}@history:{${TOPIC}}`;
  await client.hset(state, 'seq', 2, 'offset::0', 2);
  await one.bus.publish(TOPIC, event(4, CHANNEL));
  await eventually(() => {
    for (const { gaps } of [one, other]) assert.deepEqual(gaps, [TOPIC]);
  });
  assert.notEqual(await epochOf(one.bus), epoch);
  assert.deepEqual((await other.inbox.until(4)).map(numberIn), [1, 2, 3, 4]);
});
