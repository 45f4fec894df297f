import assert from 'node:assert/strict';
import test from 'node:test';
import { BRANCH_SEQUENCES, NoHistory, type HistoryPosition } from '../../../../src/bus/history.ts';
import { Random } from '../../../helpers/random.ts';
import { heldExecutions, operation, settled, setUp } from '../parts.ts';
import { inTurns } from '../../turns.ts';
import { Client, world } from './world.ts';
import { upTo } from '../../../helpers/numbers.ts';

test('a subscriber that resumes gets what it has missed, once and in order, then what comes', async (t) => {
  const { client: make, publish } = world(t);
  const [other, client] = [make(), make()];
  for (const each of [other, client]) each.connect();
  await settled();
  assert.deepEqual(client.greetings, [true]);
  await publish(upTo(3));
  client.disconnect();
  await publish(upTo(20, 4));
  client.connect();
  await publish([21, 22]);
  await inTurns(t, () => assert.equal(client.numbers.at(-1), 22));
  await publish([23]);
  assert.deepEqual(client.heard, upTo(23));
  assert.deepEqual(client.greetings, [true, true]);
  assert.deepEqual(other.heard, upTo(23));
});

for (const [title, cursor] of [
  ['an unknown epoch', '1.abc.5'],
  ['a cursor of a later form', '2.abc.5'],
  ['a number', 17],
] as const) {
  test(`with ${title} in place of a cursor, it is told that it may miss events, and gets what comes`, async (t) => {
    const { client: make, publish } = world(t);
    await publish([1]);
    const client = make();
    client.cursor = cursor as string;
    client.connect();
    await inTurns(t, () => assert.deepEqual(client.greetings, [false]));
    await publish([2]);
    assert.deepEqual(client.heard, [undefined, 2]);
    client.disconnect();
    await publish([3]);
    client.connect();
    await inTurns(t, () => assert.deepEqual(client.heard, [undefined, 2, 3]));
  });
}

test('a cursor that is older than what is kept, or newer than any event, recovers nothing', async (t) => {
  const { lostOne, publish } = world(t, { size: 4 });
  const client = await lostOne();
  await publish(upTo(20));
  client.connect();
  await inTurns(t, () => assert.deepEqual(client.greetings, [true, false]));
  client.disconnect();
  client.cursor = `${client.cursor}0`;
  client.connect();
  await inTurns(t, () => assert.deepEqual(client.greetings, [true, false, false]));
  await publish([21]);
  assert.deepEqual(client.heard, [undefined, undefined, 21]);
});

const inNextBranch = (at: HistoryPosition): HistoryPosition => ({ ...at, sequence: BRANCH_SEQUENCES + 1 });

test('what a former master gave behind the last event that the next one has recovers nothing, though sequences have gone on', async (t) => {
  const { bus, client: make, publish } = world(t);
  const clients = [make(), make()];
  for (const client of clients) client.connect();
  await settled();
  for (const [index, client] of clients.entries()) {
    await publish([index + 1]);
    client.disconnect();
  }
  const [position, read] = [bus.position.bind(bus), bus.readHistory.bind(bus)];
  t.mock.method(bus, 'position', (topic: string) => inNextBranch(position(topic) ?? assert.fail()));
  const asked = t.mock.method(bus, 'readHistory', async (...of: Parameters<typeof read>) => {
    const found = await read(...of);
    return { ...found, position: inNextBranch(found.position), branchEnd: 1 };
  });
  for (const client of clients) client.connect();
  await inTurns(t, () =>
    assert.deepEqual(
      clients.map(({ greetings }) => greetings),
      [
        [true, true],
        [true, false],
      ],
    ),
  );
  const branchEnds = asked.mock.calls.filter(({ arguments: [, channels] }) => channels.length === 0);
  assert.equal(branchEnds.length, 1);
});

test('a client that has got more than its pod knows of keeps its cursor where nothing can be read', async (t) => {
  const { bus, lostOne, publish } = world(t);
  const client = await lostOne();
  const heard = bus.position('bids');
  client.connect();
  await publish([1, 2]);
  await inTurns(t, () => assert.deepEqual(client.heard, [1, 2]));
  client.disconnect();
  const { cursor } = client;
  t.mock.method(bus, 'position', () => heard);
  t.mock.method(bus, 'readHistory', () => Promise.reject(new NoHistory('bids', 'GET is not permitted')));
  client.connect();
  await inTurns(t, () => assert.deepEqual(client.greetings, [true, true, false]));
  assert.deepEqual([client.heard, client.cursor], [[1, 2, undefined], cursor]);
});

test('a topic without history has no cursors, and a client that begins with it has lost nothing', async () => {
  const { hub, bus, metrics } = setUp();
  const client = new Client(hub, {}, operation());
  client.connect();
  await bus.acknowledge('bids:id=a');
  assert.deepEqual([client.greetings, client.cursor], [[false], null]);
  const counts = (await metrics.resumes.get()).values.map(({ labels, value }) => [labels.outcome, value]);
  assert.deepEqual(Object.fromEntries(counts), { new: 1, recovered: 0, lost: 0 });
  bus.carry('bids:id=a', 1, { n: 1 });
  assert.deepEqual([client.heard, client.cursor], [[undefined, 1], null]);
  // Published by a pod whose graph keeps the topic already.
  bus.carry('bids:id=a', 2, { n: 2 }, { h: ['abc', 7] });
  assert.deepEqual([client.heard, client.cursor], [[undefined, 1, 2], null]);
});

test('however many resume, and however they differ, each event is executed once for what is read', async (t) => {
  const roles = ['buyer', 'seller', 'guest'];
  const { lost, publish, value } = world(t, {
    size: 200,
    execute: (event: object, _, { viewer }) => ({ data: { ...event, role: viewer['role'] } }),
  });
  const clients = await lost(...upTo(300).map((id) => ({ id, role: roles[id % roles.length] ?? '' })));
  await publish([1]);
  // One that comes first, so that the others find recordings.
  clients[0]?.connect();
  await publish(upTo(40, 2));
  clients[0]?.disconnect();
  const before = await value('executions');
  const random = new Random(1);
  for (const client of clients) {
    client.connect();
    if (random.chance(0.1)) await settled();
  }
  await inTurns(t, () => assert.ok(clients.every(({ numbers }) => numbers.at(-1) === 40)));
  for (const { heard } of clients) assert.deepEqual(heard, upTo(40));
  assert.ok((await value('executions')) - before <= 40 * roles.length);
});

test('what is executed for subscribers while others resume is not executed again for these', async (t) => {
  const { client: make, lost, publish, value } = world(t, { size: 200 });
  const first = make().connect();
  const others = await lost(...upTo(19).map(() => ({})));
  await publish([1]);
  for (const [index, client] of others.entries()) {
    client.connect();
    if (index === 0) await inTurns(t, () => assert.deepEqual(client.heard, [1]));
    await publish([index + 2]);
  }
  const clients = [first, ...others];
  await inTurns(t, () => assert.ok(clients.every(({ numbers }) => numbers.length === 20)));
  for (const { heard } of clients) assert.deepEqual(heard, upTo(20));
  // The first was executed before any of them came, and once more for them.
  assert.equal(await value('executions'), 21);
});

test('results that wait for back ends come first, though events go on coming', async (t) => {
  const { executions: waiting, execute } = heldExecutions();
  const { lostOne, publish } = world(t, { size: 200, maxWaiting: 1_000, execute });
  const client = await lostOne();
  await publish(upTo(5));
  client.connect();
  await inTurns(t, () => assert.equal(waiting.length, 5));
  // There is always something under way.
  for (const n of upTo(30, 6)) {
    await publish([n]);
    await settled();
    await settled();
    waiting.shift()?.resolve();
  }
  await inTurns(t, () => {
    waiting.shift()?.resolve();
    assert.equal(client.numbers.length, 30);
  });
  assert.deepEqual(client.heard, upTo(30));
});

test('a client that takes nothing gets what it has missed as it takes it, and holds up no other', async (t) => {
  const { lost, publish } = world(t, { size: 200 });
  const [slow, quick] = (await lost({}, {})) as [Client, Client];
  await publish(upTo(10));
  slow.isBehind = true;
  for (const client of [slow, quick]) client.connect();
  await inTurns(t, () => assert.equal(quick.numbers.length, 10));
  await publish([11]);
  assert.ok(slow.numbers.length < 10);
  slow.isBehind = false;
  await inTurns(t, () => assert.equal(slow.numbers.length, 11));
  await publish([12]);
  for (const client of [slow, quick]) assert.deepEqual(client.heard, upTo(12));
});

test('a subscriber that leaves while it is resumed leaves nothing behind', async (t) => {
  const { lostOne, publish, value } = world(t);
  const client = await lostOne();
  await publish([1]);
  client.connect();
  assert.equal(await value('groups'), 1);
  client.disconnect();
  assert.equal(await value('groups'), 0);
  await settled();
  await settled();
  assert.deepEqual(client.heard, []);
});

test('a subscription with a replay begins with the last events of each of its channels', async (t) => {
  const { client: make, publish } = world(t, { keepsAll: true, binding: { replay: 3 } });
  for (const n of upTo(10)) await publish([n], n % 2 === 0 ? 'a' : 'b');
  const clients = [['a'], ['b'], ['a', 'b'], ['c']].map((keys) => make().connect(keys));
  const heard = () => clients.map((client) => client.heard);
  await inTurns(t, () => assert.deepEqual(heard(), [[6, 8, 10], [5, 7, 9], [5, 6, 7, 8, 9, 10], []]));
  await inTurns(t, () => assert.ok(clients.every(({ greetings }) => greetings.length === 1)));
  await publish([11], 'a', 'b', 'c');
  await inTurns(t, () => assert.deepEqual(heard(), [[6, 8, 10, 11], [5, 7, 9, 11], upTo(11, 5), [11]]));
  const [client] = clients;
  client?.disconnect();
  await publish(upTo(20, 12));
  client?.connect();
  await inTurns(t, () => assert.deepEqual(client?.heard, [6, 8, 10, 11, ...upTo(20, 12)]));
});

test('of each channel a replay has so many events and no more, in order, beside clients that get all', async (t) => {
  const { client: make, publish } = world(t, { keepsAll: true, binding: { replay: 2 } });
  const resuming = make().connect(['a', 'b']);
  await inTurns(t, () => assert.deepEqual(resuming.greetings, [true]));
  await publish(upTo(3));
  await inTurns(t, () => assert.deepEqual(resuming.heard, [1, 2, 3]));
  resuming.disconnect();
  await publish(upTo(9, 4), 'b');
  await publish([10], 'a', 'b');
  const clients = [resuming, make(), make()] as const;
  for (const client of clients) client.connect(['a', 'b']);
  await publish([11], 'b');
  await inTurns(t, () => assert.ok(clients.every(({ numbers }) => numbers.at(-1) === 11)));
  assert.deepEqual(resuming.heard, upTo(11));
  for (const client of clients.slice(1)) {
    // The last of them may have come before the replay, or behind it.
    const [first, ...rest] = client.heard;
    assert.equal(first, 3);
    assert.deepEqual(rest, [9, 10, 11].slice(-rest.length));
    assert.ok(rest.length >= 2);
  }
});

test('a channel that was quiet takes nothing from the replay of others', async (t) => {
  const { client: make, publish } = world(t, { keepsAll: true, binding: { replay: 3 } });
  await publish([1], 'a');
  await publish([2], 'b');
  const clients = ['ac', 'ab', 'bcd', 'cd'].map((keys) => make().connect([...keys]));
  const heard = () => clients.map((client) => client.heard);
  await inTurns(t, () => assert.deepEqual(heard(), [[1], [1, 2], [2], []]));
  await publish([3], 'a', 'c');
  await inTurns(t, () => assert.deepEqual(heard(), [[1, 3], [1, 2, 3], [2, 3], [3]]));
  const later = make().connect(['a', 'b', 'e']);
  await inTurns(t, () => assert.deepEqual(later.heard, [1, 2, 3]));
  const all = [...clients, later];
  for (const client of all) {
    assert.deepEqual(client.greetings, [true]);
    client.disconnect();
    client.connect(['a', 'c', 'e']);
  }
  await publish([4], 'e');
  await inTurns(t, () => assert.ok(all.every(({ numbers }) => numbers.at(-1) === 4)));
});

test('a replay begins behind what has been cut off of a busy channel, though another one was quiet meanwhile', async (t) => {
  const { client: make, publish } = world(t, { size: 8, keepsAll: true, binding: { replay: 1 } });
  await publish([1], 'quiet');
  await publish([2], 'busy');
  const [first, second] = [make(), make()];
  // From now on both are recorded.
  first.connect(['quiet', 'busy']);
  await inTurns(t, () => assert.deepEqual(first.heard, [1, 2]));
  await publish(upTo(40, 3), 'busy');
  second.connect(['quiet', 'busy']);
  await inTurns(t, () => assert.deepEqual(second.heard, [1, 40]));
  await publish([41], 'busy');
  assert.deepEqual(second.heard, [1, 40, 41]);
});

test('who began with what was kept is told of what is cut off behind its place', async (t) => {
  const { client: make, publish } = world(t, { size: 8, keepsAll: true, binding: { replay: 4 } });
  await publish(upTo(4));
  const client = make();
  client.isBehind = true;
  client.connect(['a', 'quiet']);
  await inTurns(t, () => assert.deepEqual(client.greetings, [true]));
  await publish(upTo(40, 5));
  client.isBehind = false;
  await inTurns(t, () => assert.ok(client.heard.length > 0 && client.heard.at(-1) === undefined));
  const before = client.heard.slice(0, -1);
  assert.deepEqual(before, upTo(before.length));
  await publish([41]);
  assert.deepEqual(client.heard, [...before, undefined, 41]);
});

test('a replay needs no client that resumes', async (t) => {
  const { asked, hub, join, publish } = world(t, { keepsAll: true, binding: { replay: 1 } });
  await publish(upTo(3));
  const { subscriber } = join(asked, { id: 'a' });
  await inTurns(t, () => assert.deepEqual(subscriber.results, [{ data: { n: 3 } }]));
  await publish([4]);
  assert.deepEqual(subscriber.results, [{ data: { n: 3 } }, { data: { n: 4 } }]);
  assert.equal(hub.inspector.inspect(1).groups.subscribers, 1);
});
