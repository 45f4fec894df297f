import assert from 'node:assert/strict';
import test from 'node:test';
import { GraphQLError } from 'graphql';
import { FakeSubscriber, heldExecutions, operation, settled, setUp, turns } from './parts.ts';
import { upTo } from '../../helpers/numbers.ts';

/** 4,000 subscribers of one group, and how many events of a hundred they have had before the turn ends. */
async function burst() {
  const parts = setUp();
  const asked = operation();
  const joined = Array.from({ length: 4_000 }, () => parts.join(asked, { id: 7 }));
  await parts.bus.acknowledge('bids:id=7');
  for (const n of upTo(100)) parts.bus.carry('bids:id=7', n, { n });
  const [leaver, stayer] = joined;
  assert.ok(leaver && stayer);
  const atOnce = stayer.subscriber.results.length;
  assert.ok(atOnce > 0 && atOnce < 100, `${atOnce} at once`);
  return { ...parts, asked, joined, leaver, stayer, atOnce };
}

test('the hub handles a burst for thousands of subscribers over several turns, in order, each event executed once, and no subscriber gets one twice', async () => {
  const { join, asked, joined, leaver, stayer, atOnce, value } = await burst();
  leaver.leave();
  const late = [join(asked, { id: 7 }).subscriber, join(asked, { id: 7 }).subscriber];
  while (stayer.subscriber.results.length < 100) await settled();
  const all = upTo(100);
  for (const { subscriber } of joined.slice(1)) assert.deepEqual(subscriber.numbers, all);
  assert.deepEqual(leaver.subscriber.numbers, all.slice(0, atOnce));
  for (const subscriber of late) assert.deepEqual(subscriber.numbers, all.slice(atOnce));
  assert.deepEqual([await value('groups'), await value('executions')], [1, 100]);
  assert.equal(await value('deliveries'), 4_001 * 100 - atOnce);
});

test('the hub drops waiting messages of a channel that has lost its last subscriber', async () => {
  const { join, asked, joined, value } = await burst();
  const before = await value('executions');
  for (const { leave } of joined) leave();
  const { subscriber } = join(asked, { id: 7 });
  await turns(20);
  assert.equal(await value('executions'), before);
  assert.deepEqual(subscriber.results, []);
});

const LONG = 'x'.repeat(100_000);

for (const [what, event, result] of [
  ['messages', { amount: 1, text: LONG }, { amount: 1 }],
  ['results', { amount: 1 }, { amount: 1, text: LONG }],
] as const) {
  test(`the hub handles large ${what} over several turns, though each is for one subscriber only`, async () => {
    const { bus, join } = setUp({ execute: () => ({ data: result }) });
    const { subscriber } = join(operation(), { id: 7 });
    await bus.acknowledge('bids:id=7');
    for (let o = 1; o <= 100; o += 1) bus.carry('bids:id=7', o, event);
    const atOnce = subscriber.results.length;
    assert.ok(atOnce > 0 && atOnce < 100, `${atOnce} at once`);
    while (subscriber.results.length < 100) await settled();
  });
}

test('a subscriber counts once the bus has acknowledged every channel of it', async () => {
  const { bus, join, value } = setUp();
  const asked = operation();
  const first = join(asked, { id: [1, 2] });
  join(asked, { id: [1, 2] });
  await bus.acknowledge('bids:id=1');
  assert.equal(await value('subscribers'), 0);
  await bus.acknowledge('bids:id=2');
  assert.equal(await value('subscribers'), 2);
  join(asked, { id: [1, 2] });
  assert.equal(await value('subscribers'), 3);
  first.leave();
  first.leave();
  assert.equal(await value('subscribers'), 2);
});

test('when the last subscriber leaves, its group ends and leaves its channels', async () => {
  const { bus, join, value } = setUp();
  const asked = operation();
  const [one, two, other] = [join(asked, { id: 1 }), join(asked, { id: 1 }), join(operation(), { id: 1 })];
  await bus.acknowledge('bids:id=1');
  one.leave();
  two.leave();
  assert.equal(await value('groups'), 1);
  assert.deepEqual(bus.left, []);
  other.leave();
  assert.equal(await value('groups'), 0);
  assert.equal(await value('subscribers'), 0);
  assert.deepEqual(bus.left, ['bids:id=1']);
});

test('when the bus refuses a channel, its subscribers end with an error, and no others do', async () => {
  const { bus, join, value } = setUp();
  const asked = operation();
  const [unlucky, lucky] = [join(asked, { id: [1, 2] }), join(asked, { id: 2 })];
  await bus.refuse('bids:id=1');
  assert.equal(unlucky.subscriber.ended?.[0]?.extensions['code'], 'BUS_UNAVAILABLE');
  assert.equal(lucky.subscriber.ended, undefined);
  await bus.acknowledge('bids:id=2');
  assert.equal(await value('groups'), 1);
  assert.equal(await value('subscribers'), 1);
});

test('an event that comes on two channels of a subscription is delivered once', async () => {
  const { bus, join, value } = setUp();
  const { subscriber } = join(operation(), { id: [1, 2, 3] });
  for (const channel of ['bids:id=1', 'bids:id=2']) bus.carry(channel, 9, { n: 1 });
  bus.carry('bids:id=3', 10, { n: 2 });
  assert.deepEqual(subscriber.results, [{ data: { n: 1 } }, { data: { n: 2 } }]);
  assert.equal(await value('duplicates'), 1);
});

test('the hub drops events that are published again, but not those of a topic created anew', () => {
  const { bus, join } = setUp();
  const { subscriber } = join(operation());
  for (const n of [1, 2, 1, 2]) bus.carry('bids', n, { n });
  bus.carry('bids', 0, { n: 3 }, { id: 'made anew' });
  const expected = [1, 2, 3].map((n) => ({ data: { n } }));
  assert.deepEqual(subscriber.results, expected);
});

test('the hub skips messages of a newer version, and payloads that are no messages', () => {
  const { bus, join } = setUp();
  const { subscriber } = join(operation());
  bus.carry('bids', 1, { n: 1 }, { v: 2 });
  bus.listeners.get('bids')?.('not json');
  bus.listeners.get('bids')?.('null');
  bus.carry('bids', 2, { n: 2 }, { addedLater: true });
  assert.deepEqual(subscriber.results, [{ data: { n: 2 } }]);
});

test('events are deeply frozen for graphs whose resolvers could change them', () => {
  const { bus, join } = setUp({
    hasResolvers: true,
    execute: (event: { a: { b: { c: number }[] } }) => {
      assert.throws(() => Object.assign(event.a.b[0] ?? {}, { c: 2 }), TypeError);
      return { data: { checked: true } };
    },
  });
  const { subscriber } = join(operation());
  bus.carry('bids', 1, { a: { b: [{ c: 1 }] } });
  assert.deepEqual(subscriber.results, [{ data: { checked: true } }]);
});

test('when delivery to one subscriber throws, the others still get their results', () => {
  const { bus, join } = setUp();
  const asked = operation();
  const [failing, other] = [join(asked).subscriber, join(asked).subscriber];
  failing.deliver = () => assert.fail('a delivery failed on purpose');
  bus.carry('bids', 1, { n: 1 });
  assert.equal(other.results.length, 1);
});

test('a subscriber whose arguments select no channel, or too many, gets errors', async () => {
  const { hub, value } = setUp();
  for (const id of [[], [1, 2, 3, 4], [null]]) {
    const errors = hub.join(operation(), { id }, new FakeSubscriber());
    assert.ok(Array.isArray(errors) && errors[0] instanceof GraphQLError);
  }
  assert.equal(await value('groups'), 0);
});

test('inspection shows each group with its operation, and what has become of its events', async () => {
  const { executions, execute } = heldExecutions();
  const { bus, hub, join } = setUp({ execute });
  const asked = operation();
  for (const id of [[1, 2], [1, 2], 2]) join(asked, { id });
  await bus.acknowledge('bids:id=1', 'bids:id=2');
  for (const n of [1, 2]) bus.carry('bids:id=1', n, { n });
  executions[0]?.resolve();
  await settled();
  const { groups, channels, executions: underWay } = hub.inspector.inspect(10);
  const group = { field: 'bid', document: 'subscription { bid }', operationName: undefined, live: true };
  const [one, two] = ['bids:id=1', 'bids:id=2'];
  const busy = { subscribers: 2, events: 2, executions: 2, waiting: 1 };
  const idle = { subscribers: 1, events: 0, executions: 0, waiting: 0 };
  const largest = [
    { ...group, variables: { id: [1, 2] }, channels: [one, two], ...busy },
    { ...group, variables: { id: 2 }, channels: [two], ...idle },
  ];
  assert.deepEqual(groups, { count: 2, subscribers: 3, waiting: 1, largest });
  assert.deepEqual(channels, {
    count: 2,
    largest: [
      { name: two, groups: 2, subscribers: 3 },
      { name: one, groups: 1, subscribers: 2 },
    ],
  });
  assert.deepEqual(underWay, { running: 1, waiting: 0, late: 0 });
  // Its time limit, which is the hub's, would keep the test process alive.
  executions[1]?.resolve();
});

test('inspection shows the largest groups and channels, and how many there are in all', () => {
  const { hub, join } = setUp();
  const asked = operation();
  for (let id = 1; id <= 20; id += 1)
    for (let subscriber = 0; subscriber < id; subscriber += 1) join(asked, { id });
  for (let other = 0; other < 2; other += 1) join(operation(), { id: 7 });
  const { groups, channels } = hub.inspector.inspect(3);
  assert.deepEqual([groups.count, groups.subscribers, channels.count], [22, 212, 20]);
  const largest = groups.largest.map(({ subscribers, live }) => `${subscribers} ${live}`);
  assert.deepEqual(largest, ['20 false', '19 false', '18 false']);
  assert.deepEqual(channels.largest[0], { name: 'bids:id=7', groups: 3, subscribers: 9 });
  assert.equal(channels.largest.length, 3);
});
