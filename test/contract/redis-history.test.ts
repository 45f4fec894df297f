import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Redis } from 'ioredis';
import type { Bus } from '../../src/bus/bus.ts';
import { BRANCH_SEQUENCES, branchOf, positionOf } from '../../src/bus/history.ts';
import { NO_POSITION, POSITIONS, readPosition, writePosition } from '../../src/bus/redis/position-field.ts';
import { isAfter } from '../../src/events/log-position.ts';
import { deletionOf } from '../../src/events/deletion.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Inbox } from '../helpers/inbox.ts';
import { range, upTo } from '../helpers/numbers.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { needs, testNeeding } from '../helpers/services.ts';
import { ALL, event, keepLong, numberIn, SIZE, TOPIC } from './history.ts';
import { testHistories } from './keeping.ts';
import { beats } from './redis-fault-pods.ts';
import { CHANNEL, listen, PREFIX, startBus, startKeeping } from './redis-buses.ts';

const test = testNeeding('redis-server');

/** Takes longer than to connect again. */
const EVENTS_PER_BLINK = 12;
const VERSION_KEY = `${PREFIX}@version:${TOPIC}`;
const STATE_KEY = `${PREFIX}@history:{${TOPIC}}`;

testHistories('redis', needs('redis-server'), async (t, histories) => {
  const { url } = await startRedis(t);
  return (await startBus(t, { url }, { histories })).bus;
});

/** A pod that listens to the channel, and another client of its Redis. */
async function setUp(t: TestContext) {
  const server = await startRedis(t);
  return { server, pod: await listen(t, server), client: await redisAdmin(t, server) };
}

/** Sets up as `setUp` does, and another pod, by which the channel has an event already. */
async function setUpTwo(t: TestContext) {
  const set = await setUp(t);
  const other = await startKeeping(t, set.server.port);
  await publish(other, 1);
  await set.pod.inbox.until(1);
  return { ...set, other };
}

/** Each event in a call of its own. */
async function publish(bus: Bus, ...numbers: readonly number[]): Promise<void> {
  for (const n of numbers) await bus.publish(TOPIC, event(n, CHANNEL));
}

const heardBy = async (inbox: Inbox, count: number): Promise<number[]> =>
  (await inbox.until(count)).map(numberIn);

const epochOf = async (bus: Bus): Promise<string> =>
  (await bus.readHistory(TOPIC, [CHANNEL], 0, ALL)).position.epoch;

/** A pod of another version of the gateway, or of another graph. */
const startWithout = async (t: TestContext, url: string): Promise<Bus> => (await startBus(t, { url })).bus;

/** Ten events, none of which waits for another. */
const publishTen = (bus: Bus, first: number) =>
  range(first, first + 10).map((o) =>
    bus.publish(TOPIC, [{ channel: CHANNEL, payload: JSON.stringify({ o }) }]),
  );

/** From another partition than `event`. */
const fromOther = (n: number) =>
  event(100 + n, CHANNEL).map((publication) => ({
    ...publication,
    source: { topicId: undefined, partition: 1, offset: n },
  }));

/** Meanwhile Redis takes no writes. */
async function withoutMemory(client: Redis, run: () => Promise<unknown>): Promise<void> {
  await client.config('SET', 'maxmemory', '1');
  await run();
  await client.config('SET', 'maxmemory', '0');
}

test('redis: an event that is published again is neither kept nor heard twice', async (t) => {
  const { bus, inbox } = (await setUp(t)).pod;
  await bus.publish(TOPIC, [...event(1, CHANNEL), ...event(2, CHANNEL)]);
  await bus.publish(TOPIC, [...event(2, CHANNEL), ...event(3, CHANNEL)]);
  await publish(bus, 1, 4);
  assert.deepEqual(await heardBy(inbox, 4), [1, 2, 3, 4]);
  const { channels } = await bus.readHistory(TOPIC, [CHANNEL], 0, ALL);
  assert.deepEqual(channels[0]?.messages.map(numberIn), [1, 2, 3, 4]);
});

/** One event, whose number is also that of its offset. */
const inEpoch = (leaderEpoch: number | undefined, n: number) =>
  event(n, CHANNEL).map(({ source, ...publication }) => ({
    ...publication,
    payload: JSON.stringify({ v: 1, o: n, e: leaderEpoch }),
    source: { topicId: undefined, partition: 0, offset: n, ...source, epoch: leaderEpoch },
  }));

const placeIn = (payload: Buffer | string) => {
  const { o, e } = JSON.parse(payload.toString()) as { o: number; e?: number };
  return e === undefined ? `${o}` : `${o}.${e}`;
};

test('redis: an offset that comes again in a higher leader epoch is another event for all pods, and tells no gap', async (t) => {
  const { server, pod, client } = await setUp(t);
  const other = await startKeeping(t, server.port);
  for (const n of [1, 2, 3]) await pod.bus.publish(TOPIC, inEpoch(5, n));
  const epoch = await epochOf(pod.bus);
  await other.publish(TOPIC, [...inEpoch(6, 2), ...inEpoch(6, 3)]);
  await pod.bus.publish(TOPIC, [...inEpoch(5, 3), ...inEpoch(6, 3), ...inEpoch(6, 4), ...inEpoch(7, 5)]);
  assert.deepEqual((await pod.inbox.until(7)).map(placeIn), [
    '1.5',
    '2.5',
    '3.5',
    '2.6',
    '3.6',
    '4.6',
    '5.7',
  ]);
  assert.equal(await client.hget(STATE_KEY, 'offset::0'), '5.7');
  assert.equal(await epochOf(pod.bus), epoch);
  assert.deepEqual(pod.gaps, []);
});

test('redis: fields that pods of the version before have written say no leader epoch, so that offsets alone decide', async (t) => {
  const { pod, client } = await setUp(t);
  await pod.bus.publish(TOPIC, inEpoch(undefined, 3));
  assert.equal(await client.hget(STATE_KEY, 'offset::0'), '3');
  await pod.bus.publish(TOPIC, [
    ...inEpoch(6, 2),
    ...inEpoch(6, 3),
    ...inEpoch(6, 4),
    ...inEpoch(undefined, 4),
  ]);
  assert.deepEqual((await pod.inbox.until(2)).map(placeIn), ['3', '4.6']);
  // They compare it as a number.
  assert.equal(Math.floor(Number(await client.hget(STATE_KEY, 'offset::0'))), 4);
});

test('redis: an offset that comes again in the same leader epoch, after a reset of the position, is another event for all pods', async (t) => {
  const { server, pod, client } = await setUp(t);
  const other = await startKeeping(t, server.port);
  const reset = (leaderEpoch: number, n: number) => inEpoch(1e10 + leaderEpoch, n);
  for (const n of [1, 2, 3]) await pod.bus.publish(TOPIC, inEpoch(5, n));
  const epoch = await epochOf(pod.bus);
  await other.publish(TOPIC, [...reset(5, 2), ...reset(5, 3)]);
  await pod.bus.publish(TOPIC, [...inEpoch(5, 3), ...reset(5, 3), ...reset(4, 4), ...reset(5, 4)]);
  const all = ['1.5', '2.5', '3.5', '2.10000000005', '3.10000000005', '4.10000000005'];
  assert.deepEqual((await pod.inbox.until(6)).map(placeIn), all);
  assert.equal(await client.hget(STATE_KEY, 'offset::0'), '4.10000000005');
  assert.equal(await epochOf(pod.bus), epoch);
  assert.deepEqual(pod.gaps, []);
  // Pods of the version before compare it as a number.
  const asNumber = await client.eval("return math.floor(tonumber('4.10000000005')) .. ''", 0);
  assert.equal(asNumber, '4');
});

test('redis: scripts compare positions as pods do', async (t) => {
  const { client } = await setUp(t);
  const epochs = [undefined, 0, 5, 6, 1e10, 1e10 + 5, 2e10 + 4, 99_999e10 + 2 ** 31 - 1];
  const positions = [NO_POSITION, ...epochs.flatMap((epoch) => [3, 4].map((offset) => ({ offset, epoch })))];
  const pairs = positions.flatMap((one) => positions.map((other) => [one, other] as const));
  const script = `${POSITIONS}
    local reply = {}
    for index = 1, #ARGV, 2 do reply[#reply + 1] = isAfter(ARGV[index], ARGV[index + 1]) and 1 or 0 end
    return reply`;
  const fields = pairs.flat().map(writePosition);
  const compared = await client.eval(script, 0, ...fields);
  assert.deepEqual(
    compared,
    pairs.map(([one, other]) => (isAfter(one, other) ? 1 : 0)),
  );
  assert.deepEqual(fields.map(readPosition), pairs.flat());
});

test('redis: what pods of the version before have kept is read, and gone on with', async (t) => {
  const server = await startRedis(t);
  const client = await redisAdmin(t, server);
  const list = `${STATE_KEY}:e1:${CHANNEL}`;
  await client.hset(STATE_KEY, { epoch: 'e1', seq: '3', version: 'v1', 'offset::0': '7' });
  await client.set(VERSION_KEY, 'v1');
  await client.rpush(list, '{"h":["e1",1]}', '{"h":["e1",2],"v":1,"o":6}', '{"h":["e1",3],"v":1,"o":7}');
  const pod = await listen(t, server);
  await pod.bus.publish(TOPIC, [...inEpoch(2, 7), ...inEpoch(2, 8)]);
  const { position, channels } = await pod.bus.readHistory(TOPIC, [CHANNEL], 0, ALL);
  assert.equal(position.epoch, 'e1');
  assert.deepEqual([channels[0]?.from, channels[0]?.messages.map(placeIn)], [1, ['6', '7', '8.2']]);
  assert.deepEqual(pod.gaps, []);
  // And so do they read it.
  assert.equal(await client.hget(STATE_KEY, 'offset::0'), '8.2');
  assert.equal(await client.lindex(list, -1), '{"h":["e1",4],"v":1,"o":8,"e":2}');
});

const tombstone = (n: number) => deletionOf('x', { topicId: undefined, partition: 0, offset: n });

for (const [name, read] of Object.entries({ 'a read': true, 'the next deletion': false })) {
  test(`redis: deleted keys of which Redis has lost the record, as where pods of the version before renewed lists alone, are forgotten with ${name}`, async (t) => {
    const { pod, client } = await setUp(t);
    const deletions = async () => {
      const { epoch, sequence } = (await pod.bus.readHistory(TOPIC, [CHANNEL], 0, ALL)).position;
      const { upTo: deleted, forgottenUpTo } = await pod.bus.deletions(TOPIC, epoch, ['x']);
      return { sequence, deleted: deleted.get('x'), forgottenUpTo };
    };
    await pod.bus.publish(TOPIC, [...event(1, CHANNEL), tombstone(2)]);
    assert.deepEqual(await deletions(), { sequence: 2, deleted: 2, forgottenUpTo: 0 });
    assert.equal(await client.del(`${STATE_KEY}@deleted:${await epochOf(pod.bus)}:0`), 1);
    if (read) assert.deepEqual(await deletions(), { sequence: 2, deleted: undefined, forgottenUpTo: 2 });
    await pod.bus.publish(TOPIC, [...event(3, CHANNEL), tombstone(4), ...event(5, CHANNEL)]);
    assert.deepEqual(await deletions(), { sequence: 5, deleted: 4, forgottenUpTo: 2 });
  });
}

test('redis: deleted keys whose record has expired before the pod that asks could renew it are forgotten', async (t) => {
  const { pod, client } = await setUp(t);
  await pod.bus.publish(TOPIC, [...event(1, CHANNEL), tombstone(2)]);
  const epoch = await epochOf(pod.bus);
  assert.equal(await client.del(`${STATE_KEY}@deleted:${epoch}:0`), 1);
  const { upTo: deleted, ...rest } = await pod.bus.deletions(TOPIC, epoch, ['x']);
  assert.deepEqual([deleted.get('x'), rest], [undefined, { forgottenUpTo: 2, last: 2 }]);
});

test('redis: two pods that publish give each event a position of its own', async (t) => {
  const { server, pod } = await setUp(t);
  const other = await startKeeping(t, server.port);
  await Promise.all([...publishTen(pod.bus, 0), ...publishTen(other, 100)]);
  const sequences = (await pod.inbox.until(20)).map((payload) => positionOf(payload)?.sequence);
  assert.deepEqual(sequences, upTo(20));
});

test('redis: what another version of the gateway publishes without history ends the epoch', async (t) => {
  const { server, pod } = await setUp(t);
  const older = await startWithout(t, server.url);
  await publish(pod.bus, 1);
  const before = await epochOf(pod.bus);
  assert.equal(await epochOf(pod.bus), before);
  await publish(older, 2);
  assert.deepEqual(await heardBy(pod.inbox, 2), [1, 2]);
  const after = await epochOf(pod.bus);
  assert.notEqual(after, before);
  await publish(pod.bus, 3);
  assert.equal(positionOf((await pod.inbox.until(3))[2] ?? '')?.epoch, after);
});

test('redis: deletions can not be had of an epoch that a tombstone without history has ended', async (t) => {
  const { server, pod } = await setUp(t);
  const older = await startWithout(t, server.url);
  await publish(pod.bus, 1);
  const epoch = await epochOf(pod.bus);
  await older.publish(TOPIC, [tombstone(2)]);
  await assert.rejects(pod.bus.deletions(TOPIC, epoch, ['x']), { name: 'NoHistory' });
});

test('redis: a connection that is lost while others publish loses nothing', async (t) => {
  const { pod, other, client } = await setUpTwo(t);
  let n = 1;
  for (let blink = 0; blink < 5; blink += 1) {
    const publishing = async (): Promise<void> => {
      for (let count = 0; count < EVENTS_PER_BLINK; count += 1) {
        n += 1;
        // It can't publish either before it listens again.
        await eventually(() => publish(other, n));
      }
    };
    await Promise.all([client.call('CLIENT', 'KILL', 'TYPE', 'pubsub'), publishing()]);
    await eventually(() => assert.equal(numberIn(pod.inbox.messages.at(-1) ?? '{}'), n));
  }
  assert.deepEqual(pod.inbox.messages.map(numberIn), upTo(n));
  assert.deepEqual(pod.gaps, []);
});

test('redis: a pod that is cut off reads what it has missed, in order, each once', async (t) => {
  const { pod, other } = await setUpTwo(t);
  await pod.cutOff();
  await publish(other, ...upTo(SIZE, 2));
  pod.relay.admit();
  await eventually(() => assert.equal(pod.inbox.messages.length, SIZE));
  await publish(other, SIZE + 1);
  assert.deepEqual(await heardBy(pod.inbox, SIZE + 1), upTo(SIZE + 1));
  assert.deepEqual(pod.gaps, []);
});

test('redis: a pod that was cut off for more than is kept tells the gap before it goes on', async (t) => {
  const { pod, other } = await setUpTwo(t);
  await pod.cutOff();
  await publish(other, ...upTo(3 * SIZE, 2));
  pod.relay.admit();
  await eventually(() => assert.deepEqual(pod.gaps, [TOPIC]));
  await eventually(() => publish(other, 100));
  assert.equal((await heardBy(pod.inbox, 2))[1], 100);
});

test('redis: a server that has lost its data begins another epoch', async (t) => {
  const { pod, client } = await setUp(t);
  await publish(pod.bus, 1);
  await pod.inbox.until(1);
  const before = await epochOf(pod.bus);
  await client.flushall();
  await publish(pod.bus, 2);
  assert.notEqual(await epochOf(pod.bus), before);
  assert.deepEqual(await heardBy(pod.inbox, 2), [1, 2]);
});

test('redis: a server whose history ends before what was heard has lost messages, which is told as a gap', async (t) => {
  const { pod, client } = await setUp(t);
  await publish(pod.bus, 1, 2, 3);
  await pod.inbox.until(3);
  // As a replica has it that lacks the last writes.
  await client.hset(STATE_KEY, 'seq', 2);
  const before = await client.hget(STATE_KEY, 'epoch');
  await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await eventually(() => assert.deepEqual(pod.gaps, [TOPIC]));
  assert.notEqual(await epochOf(pod.bus), before);
});

/** A pod that listens to a server, and another server that has been its replica, and now is a master beside it. */
async function setUpSplit(t: TestContext) {
  const [former, next] = [await startRedis(t), await startRedis(t)];
  const admin = await redisAdmin(t, next);
  await admin.replicaof('127.0.0.1', former.port);
  const pod = await listen(t, former);
  await publish(pod.bus, 1, 2, 3);
  await eventually(async () => assert.equal(await admin.hget(STATE_KEY, 'seq'), '3'));
  await admin.replicaof('NO', 'ONE');
  return { pod, next, other: await startKeeping(t, next.port) };
}

/** What the server has behind a sequence: the last one, where the branch ends that was read from, and those of the channel. */
const sequencesBehind = async (bus: Bus, since: number) => {
  const { position, branchEnd, channels } = await bus.readHistory(TOPIC, [CHANNEL], since, ALL);
  const kept = channels.flatMap(({ messages }) => messages.map((payload) => positionOf(payload)?.sequence));
  return { last: position.sequence, branchEnd, kept };
};

test('redis: where a former master goes on beside the next one, each gives sequences of its own, and the next says up to where it has those of the former', async (t) => {
  const { pod, other } = await setUpSplit(t);
  await publish(pod.bus, 4, 5);
  await publish(other, 6, 7, 8);
  assert.deepEqual(await sequencesBehind(pod.bus, 2), { last: 5, branchEnd: undefined, kept: [3, 4, 5] });
  const { last, branchEnd, kept } = await sequencesBehind(other, 2);
  const [first = 0, ...rest] = kept.slice(1);
  assert.deepEqual([branchEnd, kept[0], first % BRANCH_SEQUENCES], [3, 3, 1]);
  assert.deepEqual([rest, last], [[first + 1, first + 2], first + 2]);
  assert.ok(branchOf({ sequence: first }) > 0);
  assert.deepEqual(await sequencesBehind(other, first), { last, branchEnd: undefined, kept: rest });
  const ofAnother = (await sequencesBehind(other, first + BRANCH_SEQUENCES)).branchEnd;
  assert.equal(ofAnother, 0, 'another successor of the former master may have given it');
});

test('redis: a pod that has heard more of a former master than the next one has is told a gap, though others have published more there', async (t) => {
  const { pod, next, other } = await setUpSplit(t);
  await publish(pod.bus, 4, 5);
  await pod.inbox.until(5);
  await publish(other, 6, 7, 8);
  const before = await epochOf(other);
  pod.relay.moveTo(next.port);
  pod.relay.cut();
  await eventually(() => assert.deepEqual(pod.gaps, [TOPIC]));
  assert.notEqual(await epochOf(other), before);
});

test('redis: a pod that has heard no more of a former master than the next one has goes on with that, and is told no gap', async (t) => {
  const { pod, next, other } = await setUpSplit(t);
  await pod.inbox.until(3);
  await publish(other, 6, 7, 8);
  pod.relay.moveTo(next.port);
  pod.relay.cut();
  assert.deepEqual(await heardBy(pod.inbox, 6), [1, 2, 3, 6, 7, 8]);
  assert.deepEqual(pod.gaps, []);
});

test('redis: nothing is read while Redis has no memory, since what is published then is not kept', async (t) => {
  const { pod, other, client } = await setUpTwo(t);
  // Its version is known then, so that it is told that Redis takes writes again, whichever pod finds it first.
  await epochOf(pod.bus);
  await withoutMemory(client, async () => {
    await assert.rejects(pod.bus.readHistory(TOPIC, [CHANNEL], 0, ALL), { name: 'NoHistory' });
    await publish(other, 2);
  });
  await pod.bus.readHistory(TOPIC, [CHANNEL], 0, ALL);
  assert.deepEqual(await heardBy(pod.inbox, 2), [1, 2]);
  // The pod that has published it notices that Redis takes writes again.
  await eventually(() => assert.deepEqual(pod.gaps, [TOPIC]));
});

test('redis: what was published while Redis had no memory ends the epoch, though the next event comes at once', async (t) => {
  const { pod, client } = await setUp(t);
  await publish(pod.bus, 1);
  const before = await epochOf(pod.bus);
  await withoutMemory(client, () => publish(pod.bus, 2));
  await publish(pod.bus, 3);
  assert.notEqual(await epochOf(pod.bus), before);
});

test('redis: a list that Redis has evicted is told to be incomplete', async (t) => {
  const { pod, client } = await setUp(t);
  await publish(pod.bus, 1);
  const [list = ''] = await client.keys(`${STATE_KEY}:*`);
  await client.del(list);
  await publish(pod.bus, 2);
  const { channels, position } = await pod.bus.readHistory(TOPIC, [CHANNEL], 0, ALL);
  assert.deepEqual(channels, [{ channel: CHANNEL, from: position.sequence, isAll: true, messages: [] }]);
});

test('redis: more is read than Redis reads in one go, each channel once', async (t) => {
  const { bus } = (await setUp(t)).pod;
  const channels = upTo(600).map((n) => `${CHANNEL}${n}`);
  await Promise.all(channels.map((channel) => bus.subscribe(TOPIC, channel, () => undefined).ready));
  for (const n of upTo(SIZE)) await bus.publish(TOPIC, event(n, ...channels));
  const read = await bus.readHistory(TOPIC, channels, 0, ALL);
  assert.deepEqual(
    read.channels.map(({ channel, messages }) => [channel, messages.map(numberIn)]),
    channels.map((channel) => [channel, upTo(SIZE)]),
  );
});

test('redis: messages of a mebibyte and more are read in order, while others come', async (t) => {
  const { bus } = (await setUp(t)).pod;
  const [a, b] = [CHANNEL, `${CHANNEL}2`];
  await keepLong(bus, { [a]: 1_500_000, [b]: 700_000 }, 4);
  const reading = bus.readHistory(TOPIC, [a, b], 0, ALL);
  await publish(bus, ...upTo(SIZE, 5));
  const { channels, position, isCut } = await reading;
  assert.equal(isCut, false);
  for (const { from, isAll, messages } of channels) {
    const sequences = messages.map((one) => positionOf(one)?.sequence ?? 0);
    assert.ok(isAll && from < (sequences[0] ?? 0));
    assert.deepEqual(messages.map(numberIn), upTo(messages.length));
    const before = sequences.filter((sequence) => sequence <= position.sequence);
    assert.ok(before.length >= 4, `${before.length}`);
  }
});

test('redis: a list of more messages than one call reads is read as a whole', async (t) => {
  const server = await startRedis(t);
  const settings = { size: 6_000, ttlMs: 600_000, keepsAll: false };
  const { bus } = await startBus(t, server, { histories: new Map([[TOPIC, settings]]) });
  await bus.subscribe(TOPIC, CHANNEL, () => undefined).ready;
  await bus.publish(
    TOPIC,
    upTo(5_500).flatMap((n) => event(n, CHANNEL)),
  );
  const [kept] = (await bus.readHistory(TOPIC, [CHANNEL], 0, ALL)).channels;
  assert.deepEqual([kept?.isAll, kept?.messages.map(numberIn)], [true, upTo(5_500)]);
  const bounds = { ...ALL, last: 4_000 };
  const [last] = (await bus.readHistory(TOPIC, [CHANNEL], 0, bounds)).channels;
  assert.deepEqual([last?.isAll, last?.messages.map(numberIn)], [false, upTo(5_500, 1_501)]);
});

test('redis: Redis replies with no more than is asked for', async (t) => {
  const { pod, client } = await setUp(t);
  const names = upTo(40).map((n) => `${CHANNEL}${n}`);
  await keepLong(pod.bus, Object.fromEntries(names.map((name) => [name, 50_000])), 4);
  await client.config('RESETSTAT');
  const before = await outputOf(client);
  const read = await pod.bus.readHistory(TOPIC, names, 0, { maxBytes: 100_000 });
  assert.equal(read.isCut, true);
  const replied = (await outputOf(client)) - before;
  assert.ok(replied < 150_000, `expected about 100,000 bytes, got ${replied}`);
});

/** Bytes that Redis has sent. */
const outputOf = async (client: Redis): Promise<number> =>
  Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);

test('redis: one call asks for more channels than Redis looks at in one go', async (t) => {
  const { bus } = (await setUp(t)).pod;
  const channels = upTo(1_200).map((n) => `${CHANNEL}${n}`);
  const joined = [channels[3], channels[700], channels[1_199]].map((channel) => channel ?? '');
  await Promise.all(joined.map((channel) => bus.subscribe(TOPIC, channel, () => undefined).ready));
  assert.deepEqual([...(await bus.subscribed(TOPIC, channels))], joined);
  await bus.publish(TOPIC, event(1, ...joined));
  const read = await bus.readHistory(TOPIC, joined, 0, ALL);
  assert.deepEqual(
    read.channels.map(({ messages }) => messages.map(numberIn)),
    [[1], [1], [1]],
  );
});

test('redis: while Redis takes no writes, events are published without history, and the epoch ends', async (t) => {
  const { pod, client } = await setUp(t);
  await publish(pod.bus, 1);
  const before = await epochOf(pod.bus);
  // Before the pod's heartbeat can give the topic another one.
  const version = await client.get(VERSION_KEY);
  await withoutMemory(client, () => publish(pod.bus, 2));
  assert.deepEqual(await heardBy(pod.inbox, 2), [1, 2]);
  await eventually(async () => assert.notEqual(await client.get(VERSION_KEY), version));
  assert.notEqual(await epochOf(pod.bus), before);
});

test('redis: the epoch ends also if the pod stops that has published without history', async (t) => {
  const { server, pod, other, client } = await setUpTwo(t);
  const before = await epochOf(pod.bus);
  await withoutMemory(client, async () => {
    await publish(other, 2);
    await other.stop();
  });
  assert.deepEqual(await heardBy(pod.inbox, 2), [1, 2]);
  assert.notEqual(await epochOf(await startKeeping(t, server.port)), before);
});

test('redis: a pod that hears another epoch begin keeps its channels in that one', async (t) => {
  const { server, pod, other, client } = await setUpTwo(t);
  const older = await startWithout(t, server.url);
  await publish(older, 2); // Ends the epoch.
  await publish(other, 3); // The first of the next one.
  await pod.inbox.until(3);
  const epoch = positionOf(pod.inbox.messages[2] ?? '')?.epoch;
  await eventually(async () => assert.equal(await client.exists(`${STATE_KEY}:${epoch}:${CHANNEL}`), 1));
  // What was heard in an epoch counts from the next heartbeat on.
  await beats(client, 2, { prefix: PREFIX });
  await pod.cutOff();
  await publish(other, 4);
  pod.relay.admit();
  assert.deepEqual(await heardBy(pod.inbox, 4), [1, 2, 3, 4]);
  assert.deepEqual(pod.gaps, []);
});

test('redis: a server that comes back with its data tells no gap, though two pods have published', async (t) => {
  const server = await startRedis(t, { keeps: true });
  const [one, other] = [await listen(t, server), await listen(t, server)];
  await publish(one.bus, 1);
  await other.bus.publish(TOPIC, fromOther(1));
  const epoch = await epochOf(one.bus);
  await server.stop('SIGKILL');
  await server.start();
  await eventually(() => publish(one.bus, 2));
  await eventually(() => other.bus.publish(TOPIC, fromOther(2)));
  for (const pod of [one, other]) {
    assert.deepEqual(await heardBy(pod.inbox, 4), [1, 101, 2, 102]);
    assert.deepEqual(pod.gaps, []);
  }
  assert.equal(await epochOf(one.bus), epoch);
});

test('redis: a server that lacks the last writes begins another epoch with the next event, and says so', async (t) => {
  const { server, pod, client } = await setUp(t);
  const other = await listen(t, server);
  await publish(pod.bus, 1, 2, 3);
  const epoch = await epochOf(pod.bus);
  // As a replica is that has been promoted before it had the last event.
  await client.hset(STATE_KEY, 'seq', 2, 'offset::0', 2);
  await publish(pod.bus, 4);
  await eventually(() => {
    for (const { gaps } of [pod, other]) assert.deepEqual(gaps, [TOPIC]);
  });
  assert.notEqual(await epochOf(pod.bus), epoch);
  assert.deepEqual(await heardBy(other.inbox, 4), [1, 2, 3, 4]);
});
