import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExecutionResult } from 'graphql';
import { Random } from '../../../helpers/random.ts';
import { operation, settled, setUp, setUpOn, withResolvers } from '../parts.ts';
import { inTurns } from '../../turns.ts';
import { Client, heldBus, publish } from './world.ts';
import { upTo } from '../../../helpers/numbers.ts';

test('a subscriber that resumes gets what it has missed, once and in order, then what comes', async (t) => {
  const bus = heldBus(t, 50);
  const { hub } = setUpOn(bus);
  const asked = operation();
  const other = new Client(hub);
  other.connect('a', asked);
  const client = new Client(hub);
  client.connect('a', asked);
  await settled();
  assert.deepEqual(client.greetings, [true]);
  for (const n of upTo(3)) await publish(bus, n, 'a');
  client.disconnect();
  for (const n of upTo(20, 4)) await publish(bus, n, 'a');
  client.connect('a', asked);
  for (const n of upTo(22, 21)) await publish(bus, n, 'a');
  await inTurns(t, () => assert.equal(client.numbers.at(-1), 22));
  await publish(bus, 23, 'a');
  assert.deepEqual(client.heard, upTo(23));
  assert.deepEqual(client.greetings, [true, true]);
  assert.deepEqual(other.heard, upTo(23));
});

test('one whose connection was lost before its first event misses nothing either', async (t) => {
  const bus = heldBus(t, 50);
  const { hub } = setUpOn(bus);
  const client = new Client(hub);
  client.connect('a');
  await settled();
  client.disconnect();
  await publish(bus, 1, 'a');
  client.connect('a');
  await inTurns(t, () => assert.deepEqual(client.heard, [1]));
});

test('an event on several channels of a subscription comes once, in the order of the events', async (t) => {
  const bus = heldBus(t, 50);
  const { hub } = setUpOn(bus);
  const client = new Client(hub);
  client.connect(['a', 'b']);
  await settled();
  client.disconnect();
  await publish(bus, 1, 'b');
  await publish(bus, 2, 'a', 'b', 'c');
  await publish(bus, 3, 'c');
  await publish(bus, 4, 'a');
  client.connect(['b', 'a']);
  await inTurns(t, () => assert.equal(client.numbers.at(-1), 4));
  await publish(bus, 5, 'b', 'a');
  assert.deepEqual(client.heard, [1, 2, 4, 5]);
});

for (const [title, cursor] of [
  ['an unknown epoch', '1.abc.5'],
  ['no cursor of this gateway', 'yesterday'],
  ['a cursor of a later form', '2.abc.5'],
  ['a number', 17],
  ['an object', {}],
] as const) {
  test(`with ${title} in place of a cursor, it is told that it may miss events, and gets what comes`, async (t) => {
    const bus = heldBus(t, 50);
    const { hub } = setUpOn(bus);
    await publish(bus, 1, 'a');
    const client = new Client(hub);
    client.cursor = cursor as string;
    client.connect('a');
    await inTurns(t, () => assert.deepEqual(client.greetings, [false]));
    await publish(bus, 2, 'a');
    assert.deepEqual(client.heard, [undefined, 2]);
    client.disconnect();
    await publish(bus, 3, 'a');
    client.connect('a');
    await inTurns(t, () => assert.deepEqual(client.heard, [undefined, 2, 3]));
  });
}

test('a cursor that is older than what is kept, or newer than any event, recovers nothing', async (t) => {
  const bus = heldBus(t, 4);
  const { hub } = setUpOn(bus);
  const client = new Client(hub);
  client.connect('a');
  await settled();
  client.disconnect();
  for (const n of upTo(20)) await publish(bus, n, 'a');
  client.connect('a');
  await inTurns(t, () => assert.deepEqual(client.greetings, [true, false]));
  client.disconnect();
  client.cursor = `${client.cursor}0`;
  client.connect('a');
  await inTurns(t, () => assert.deepEqual(client.greetings, [true, false, false]));
  await publish(bus, 21, 'a');
  assert.deepEqual(client.heard, [undefined, undefined, 21]);
});

test('a topic without history has no cursors', async () => {
  const { hub, bus } = setUp();
  const client = new Client(hub);
  client.connect('a');
  await bus.acknowledge('bids:id=a');
  assert.deepEqual([client.greetings, client.cursor], [[false], null]);
  bus.carry('bids:id=a', 1, { n: 1 });
  assert.deepEqual([client.heard, client.cursor], [[undefined, 1], null]);
});

test('however many resume, and however they differ, each event is executed once for what is read', async (t) => {
  const bus = heldBus(t, 200);
  const roles = ['buyer', 'seller', 'guest'];
  const { hub, value } = setUpOn(bus, {
    execute: (event: { n: number }, _, context) => {
      const { role } = context['viewer'] as unknown as { role: string };
      return { data: { ...event, role } };
    },
  });
  const asked = operation();
  const clients = upTo(300).map((id) => new Client(hub, { id, role: roles[id % roles.length] ?? '' }));
  for (const client of clients) client.connect('a', asked);
  await settled();
  for (const client of clients) client.disconnect();
  await publish(bus, 1, 'a');
  // One that comes first, so that the others find recordings.
  clients[0]?.connect('a', asked);
  for (const n of upTo(40, 2)) await publish(bus, n, 'a');
  clients[0]?.disconnect();
  const before = await value('executions');
  const random = new Random(1);
  for (const client of clients) {
    client.connect('a', asked);
    if (random.chance(0.1)) await settled();
  }
  await inTurns(t, () => assert.ok(clients.every(({ numbers }) => numbers.at(-1) === 40)));
  for (const { heard } of clients) assert.deepEqual(heard, upTo(40));
  assert.ok((await value('executions')) - before <= 40 * roles.length);
});

test('what is executed for subscribers while others resume is not executed again for these', async (t) => {
  const bus = heldBus(t, 200);
  const { hub, value } = setUpOn(bus);
  const asked = operation();
  const clients = upTo(20).map(() => new Client(hub));
  for (const client of clients) client.connect('a', asked);
  await settled();
  for (const client of clients.slice(1)) client.disconnect();
  await publish(bus, 1, 'a');
  for (const [index, client] of clients.slice(1).entries()) {
    client.connect('a', asked);
    if (index === 0) await inTurns(t, () => assert.deepEqual(client.heard, [1]));
    await publish(bus, index + 2, 'a');
  }
  await inTurns(t, () => assert.ok(clients.every(({ numbers }) => numbers.length === 20)));
  for (const { heard } of clients) assert.deepEqual(heard, upTo(20));
  // The first was executed before any of them came, and once more for them.
  assert.equal(await value('executions'), 21);
});

test('results that wait for back ends come first, though events go on coming', async (t) => {
  const bus = heldBus(t, 200);
  const waiting: (() => void)[] = [];
  const { hub } = setUpOn(bus, {
    maxWaiting: 1_000,
    execute: async (event: { n: number }): Promise<ExecutionResult> => {
      const { promise, resolve } = withResolvers();
      waiting.push(resolve);
      await promise;
      return { data: event };
    },
  });
  const asked = operation();
  const client = new Client(hub);
  client.connect('a', asked);
  await settled();
  client.disconnect();
  for (const n of upTo(5)) await publish(bus, n, 'a');
  client.connect('a', asked);
  await inTurns(t, () => assert.equal(waiting.length, 5));
  // There is always something under way.
  for (const n of upTo(30, 6)) {
    await publish(bus, n, 'a');
    await settled();
    await settled();
    waiting.shift()?.();
  }
  await inTurns(t, () => {
    waiting.shift()?.();
    assert.equal(client.numbers.length, 30);
  });
  assert.deepEqual(client.heard, upTo(30));
});

test('a client that takes nothing gets what it has missed as it takes it, and holds up no other', async (t) => {
  const bus = heldBus(t, 200);
  const { hub } = setUpOn(bus);
  const asked = operation();
  const [slow, quick] = [new Client(hub), new Client(hub)] as const;
  for (const client of [slow, quick]) client.connect('a', asked);
  await settled();
  for (const client of [slow, quick]) client.disconnect();
  for (const n of upTo(10)) await publish(bus, n, 'a');
  slow.isBehind = true;
  for (const client of [slow, quick]) client.connect('a', asked);
  await inTurns(t, () => assert.equal(quick.numbers.length, 10));
  await publish(bus, 11, 'a');
  assert.ok(slow.numbers.length < 10);
  slow.isBehind = false;
  await inTurns(t, () => assert.equal(slow.numbers.length, 11));
  await publish(bus, 12, 'a');
  for (const client of [slow, quick]) assert.deepEqual(client.heard, upTo(12));
});

test('a subscriber that leaves while it is resumed leaves nothing behind', async (t) => {
  const bus = heldBus(t, 200);
  const { hub, value } = setUpOn(bus);
  const client = new Client(hub);
  client.connect('a');
  await settled();
  client.disconnect();
  await publish(bus, 1, 'a');
  client.connect('a');
  assert.equal(await value('groups'), 1);
  client.disconnect();
  assert.equal(await value('groups'), 0);
  await settled();
  await settled();
  assert.deepEqual(client.heard, []);
});

test('a subscription with a replay begins with the last events of each of its channels', async (t) => {
  const bus = heldBus(t, 50, true);
  const { hub } = setUpOn(bus, { binding: { replay: 3 } });
  for (const n of upTo(10)) await publish(bus, n, n % 2 === 0 ? 'a' : 'b');
  const clients = [['a'], ['b'], ['a', 'b'], ['c']].map((keys) => ({ keys, client: new Client(hub) }));
  for (const { keys, client } of clients) client.connect(keys);
  const heard = () => clients.map(({ client }) => client.heard);
  await inTurns(t, () => assert.deepEqual(heard(), [[6, 8, 10], [5, 7, 9], [5, 6, 7, 8, 9, 10], []]));
  await inTurns(t, () => assert.ok(clients.every(({ client }) => client.greetings.length === 1)));
  await publish(bus, 11, 'a', 'b', 'c');
  await inTurns(t, () => {
    assert.deepEqual(heard(), [[6, 8, 10, 11], [5, 7, 9, 11], [5, 6, 7, 8, 9, 10, 11], [11]]);
  });
  const { client } = clients[0] ?? assert.fail();
  client.disconnect();
  for (const n of upTo(20, 12)) await publish(bus, n, 'a');
  client.connect('a');
  await inTurns(t, () => assert.deepEqual(client.heard, [6, 8, 10, 11, ...upTo(20, 12)]));
});

test('of each channel a replay has so many events and no more, in order, beside clients that get all', async (t) => {
  const bus = heldBus(t, 50, true);
  const { hub } = setUpOn(bus, { binding: { replay: 2 } });
  const resuming = new Client(hub);
  resuming.connect(['a', 'b']);
  await inTurns(t, () => assert.deepEqual(resuming.greetings, [true]));
  for (const n of upTo(3)) await publish(bus, n, 'a');
  await inTurns(t, () => assert.deepEqual(resuming.heard, [1, 2, 3]));
  resuming.disconnect();
  for (const n of upTo(9, 4)) await publish(bus, n, 'b');
  await publish(bus, 10, 'a', 'b');
  const clients = [resuming, new Client(hub), new Client(hub)] as const;
  for (const client of clients) client.connect(['a', 'b']);
  await publish(bus, 11, 'b');
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
  const bus = heldBus(t, 50, true);
  const { hub } = setUpOn(bus, { binding: { replay: 3 } });
  await publish(bus, 1, 'a');
  await publish(bus, 2, 'b');
  const clients = [
    ['a', 'c'],
    ['a', 'b'],
    ['b', 'c', 'd'],
    ['c', 'd'],
  ].map((keys) => ({
    keys,
    client: new Client(hub),
  }));
  for (const { keys, client } of clients) client.connect(keys);
  const heard = () => clients.map(({ client }) => client.heard);
  await inTurns(t, () => assert.deepEqual(heard(), [[1], [1, 2], [2], []]));
  await publish(bus, 3, 'a', 'c');
  await inTurns(t, () => assert.deepEqual(heard(), [[1, 3], [1, 2, 3], [2, 3], [3]]));
  const later = new Client(hub);
  later.connect(['a', 'b', 'e']);
  await inTurns(t, () => assert.deepEqual(later.heard, [1, 2, 3]));
  for (const client of [...clients.map((one) => one.client), later]) {
    assert.deepEqual(client.greetings, [true]);
    client.disconnect();
    client.connect(['a', 'c', 'e']);
  }
  await publish(bus, 4, 'e');
  const all = [...clients.map(({ client }) => client), later];
  await inTurns(t, () => assert.ok(all.every(({ numbers }) => numbers.at(-1) === 4)));
});

test('a replay begins behind what has been cut off of a busy channel, though another one was quiet meanwhile', async (t) => {
  const bus = heldBus(t, 8, true);
  const { hub } = setUpOn(bus, { binding: { replay: 1 } });
  await publish(bus, 1, 'quiet');
  await publish(bus, 2, 'busy');
  const [first, second] = [new Client(hub), new Client(hub)] as const;
  // From now on both are recorded.
  first.connect(['quiet', 'busy']);
  await inTurns(t, () => assert.deepEqual(first.heard, [1, 2]));
  for (const n of upTo(40, 3)) await publish(bus, n, 'busy');
  second.connect(['quiet', 'busy']);
  await inTurns(t, () => assert.deepEqual(second.heard, [1, 40]));
  await publish(bus, 41, 'busy');
  assert.deepEqual(second.heard, [1, 40, 41]);
});

test('who began with what was kept is told of what is cut off behind its place', async (t) => {
  const bus = heldBus(t, 8, true);
  const { hub } = setUpOn(bus, { binding: { replay: 4 } });
  for (const n of upTo(4)) await publish(bus, n, 'a');
  const client = new Client(hub);
  client.isBehind = true;
  client.connect(['a', 'quiet']);
  await inTurns(t, () => assert.deepEqual(client.greetings, [true]));
  for (const n of upTo(40, 5)) await publish(bus, n, 'a');
  client.isBehind = false;
  await inTurns(t, () => assert.ok(client.heard.length > 0 && client.heard.at(-1) === undefined));
  const before = client.heard.slice(0, -1);
  assert.deepEqual(before, upTo(before.length));
  await publish(bus, 41, 'a');
  assert.deepEqual(client.heard, [...before, undefined, 41]);
});

test('a replay needs no client that resumes', async (t) => {
  const bus = heldBus(t, 50, true);
  const { hub, join } = setUpOn(bus, { binding: { replay: 1 } });
  for (const n of upTo(3)) await publish(bus, n, 'a');
  const asked = operation();
  const { subscriber } = join(asked, { id: 'a' });
  await inTurns(t, () => assert.deepEqual(subscriber.results, [{ data: { n: 3 } }]));
  await publish(bus, 4, 'a');
  assert.deepEqual(subscriber.results, [{ data: { n: 3 } }, { data: { n: 4 } }]);
  assert.equal(hub.inspector.inspect(1).groups.subscribers, 1);
});
