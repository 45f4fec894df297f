import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { EventTrace } from '../../../src/events/trace.ts';
import type { Operation } from '../../../src/executor/operation.ts';
import { Explainer } from '../../../src/explain/explainer.ts';
import type { Explained } from '../../../src/explain/explanation.ts';
import { RecentlyArrived } from '../../../src/explain/recently-arrived.ts';
import { RecentlyConsumed } from '../../../src/explain/recently-consumed.ts';
import { Group } from '../../../src/hub/group.ts';
import type { Json } from '../../../src/lazy/reads.ts';
import {
  ClientSubscription,
  type SubscriptionOwner,
} from '../../../src/transports/delivery/client-subscription.ts';
import { Flusher } from '../../../src/transports/delivery/flusher.ts';
import { SendQueue } from '../../../src/transports/delivery/send-queue.ts';
import { FakeFrameSink } from '../../helpers/fake-frame-sink.ts';
import { byRole, filterOn, heldExecutions, operation, setUp as setUpHub } from '../hub/parts.ts';
import { topic, topics } from '../ingest/parts.ts';
import { HeldTime } from './held-time.ts';

class Connection implements SubscriptionOwner {
  readonly wire = new FakeFrameSink();
  readonly sendQueue: SendQueue;
  readonly id: string;
  readonly openedAt: number;
  readonly viewer: Json;

  constructor(id: string, viewer: Json, openedAt: number, flusher: Flusher) {
    this.id = id;
    this.openedAt = openedAt;
    this.viewer = viewer;
    this.sendQueue = new SendQueue(this.wire, this.wire, flusher, 100_000);
  }

  joined(): void {}

  left(): void {}

  reconnect(): void {}
}

class Subscription extends ClientSubscription<Connection> {
  protected tellEnd(): void {}
}

type HubSetUp = NonNullable<Parameters<typeof setUpHub>[0]>;

/**
 * A hub, and an explainer that looks at it, on time that stands still.
 *
 * @param keptBytes of the last events; without it none is kept
 */
function setUp(options: HubSetUp = {}, keptBytes = 0) {
  const trace = new EventTrace();
  const time = new HeldTime();
  const flusher: Flusher = new Flusher(time.now, () => undefined, {
    leftOut: ({ shared }, subscriber) => trace.listener?.({ step: 'left_out', result: shared, subscriber }),
    caughtUp: (sendQueue) => trace.listener?.({ step: 'caught_up', sendQueue }),
  });
  const arrived = new RecentlyArrived(keptBytes, time.now);
  const consumed = new RecentlyConsumed(trace, keptBytes, time.now);
  const arrivals = keptBytes === 0 ? undefined : arrived;
  const { bus, hub } = setUpHub({ timers: time, ...options, trace, budget: flusher, arrivals });
  const connections = new Map<string, Connection>();
  const joined = new Map<Connection, Group[]>();
  const explainer = new Explainer({
    trace,
    timers: time,
    now: time.now,
    connectionOf: (id) => connections.get(id),
    subscriptionsOf: (connection) => joined.get(connection as Connection) ?? [],
    refusedOf: () => [],
    consumed,
    arrived,
    topics: () => topics(topic('bids', { keys: ['id'] })),
  });
  const connect = (viewer: Json = {}): Connection => {
    const connection = new Connection(`${connections.size + 1}`, viewer, time.now() / 1_000, flusher);
    connections.set(connection.id, connection);
    return connection;
  };
  const subscribe = (connection: Connection, asked: Operation = ASKED, id = 'a'): Connection => {
    const subscription = new Subscription('1', asked, {}, connection);
    const group = hub.join(asked, { id }, subscription);
    assert.ok(group instanceof Group);
    subscription.joined(group);
    joined.set(connection, [...(joined.get(connection) ?? []), group]);
    return connection;
  };
  /** What is said of the event to a connection's subscriptions. */
  const ask = ({ id }: Connection, offset = 0): readonly Explained[] => {
    const answer = explainer.explain(id, { topic: 'bids', partition: 0, offset });
    assert.ok(answer !== undefined);
    return answer.subscriptions;
  };
  const askOne = (connection: Connection, offset = 0): Explained => ask(connection, offset)[0] as Explained;
  const verdicts = (connection: Connection, ...offsets: readonly number[]): string[] =>
    offsets.map((offset) => askOne(connection, offset).verdict);
  /** Connections of these viewers, which have subscribed and asked: from now on events are recorded. */
  const watching = <const T extends readonly Json[]>(...viewers: T) => {
    const all = viewers.map((viewer) => subscribe(connect(viewer)));
    for (const connection of all) ask(connection);
    return all as { -readonly [K in keyof T]: Connection };
  };
  /** This process routes an event by its field. @returns its record */
  const route = (offset: number, id: string | undefined, more: { partition?: number; key?: Buffer } = {}) => {
    const record = { topic: 'bids', partition: 0, offset, key: null, ...more };
    const channels = id === undefined ? ['bids'] : ['bids', `bids:id=${id}`];
    consumed.listener({
      step: 'routed',
      record,
      keys: ['id'],
      event: id === undefined ? {} : { id },
      channels,
    });
    return record;
  };
  /** Has events come, each in a turn of its own. */
  const carry = async (...offsets: readonly number[]): Promise<void> => {
    for (const offset of offsets) {
      bus.carry('bids:id=a', offset, {});
      await setImmediate();
    }
  };
  return {
    time,
    bus,
    connect,
    subscribe,
    watching,
    carry,
    route,
    ask,
    askOne,
    verdicts,
    explainer,
    consumed,
  };
}

/** One connection, and what is told of an event to it. */
function setUpOne(options: HubSetUp = {}) {
  const parts = setUp(options);
  const [ann] = parts.watching({});
  const told = (offset = 0): Explained => parts.askOne(ann, offset);
  return {
    ...parts,
    ann,
    told,
    verdicts: (...offsets: readonly number[]) => parts.verdicts(ann, ...offsets),
  };
}

const ASKED = operation();

/** In the words of the answer. */
const textOf = ({ steps }: Explained, step: string): string | undefined =>
  steps.find((one) => one.step === step)?.text;

/** Demands this verdict, and these texts of steps. */
function expectSaid(
  said: Explained,
  verdict: Explained['verdict'],
  texts: Readonly<Record<string, string | RegExp>> = {},
): void {
  assert.equal(said.verdict, verdict);
  for (const [step, expected] of Object.entries(texts)) {
    const text = textOf(said, step);
    if (typeof expected === 'string') assert.equal(text, expected);
    else assert.match(text ?? '', expected);
  }
}

const throttled = { keyOf: () => 'one', throttleMs: 100, onSlow: 'CONFLATE' } as const;

const person = (id: string, role: string) => ({ id, role, token: `secret-${id}` });

/** Executes what reads these of the viewer. */
const reading = (...names: string[]): HubSetUp => ({
  execute: (_event, _variables, { viewer }) => ({
    data: Object.fromEntries(names.map((name) => [name, (viewer as Record<string, string>)[name]])),
  }),
});

test('a result that is shared is told with how many, and with the names of what their viewers agree on', async () => {
  const { carry, watching, askOne } = setUp(reading('role'));
  const [ann, , cid] = watching(person('ann', 'buyer'), person('bob', 'buyer'), person('cid', 'seller'));
  await carry(0);
  expectSaid(askOne(ann), 'delivered', {
    execute: 'its group has 3 subscribers; 2 executions so far, as viewers differ in viewer.role',
    share: 'its result is shared with 1 of 2 other subscribers whose viewers agree on: viewer.role',
  });
  const alone = 'executed for this subscription alone: no other viewer has the same viewer.role';
  assert.equal(textOf(askOne(cid), 'share'), alone);
});

test('what viewers have where they were read is not told', async () => {
  const { carry, watching, ask } = setUp(reading('token', 'id'));
  const [ann] = watching(person('ann', 'buyer'), person('bob', 'buyer'));
  await carry(0);
  const said = JSON.stringify(ask(ann));
  assert.match(said, /no other viewer has the same viewer\.id, viewer\.token/);
  assert.doesNotMatch(said, /secret|"ann"/);
});

for (const [title, shares, expected] of [
  [
    'a result of which nothing was read of viewers is shared by all',
    true,
    'its result is shared with 1 of 1 other subscribers: nothing was read of viewers',
  ],
  [
    'with sharing: NEVER it is told that each subscriber is executed for alone',
    false,
    'executed for this subscription alone, by sharing: NEVER',
  ],
] as const) {
  test(title, async () => {
    const { carry, watching, askOne } = setUp({ binding: { shares } });
    const [ann] = watching(person('ann', ''), person('bob', ''));
    await carry(0);
    assert.equal(textOf(askOne(ann), 'share'), expected);
  });
}

test('a delivery has the time when it was handed over, and the time when the turn had written it', async () => {
  const { time, bus, told } = setUpOne();
  bus.carry('bids:id=a', 0, {});
  assert.equal(told().verdict, 'under way');
  time.advance(5);
  await setImmediate();
  expectSaid(told(), 'delivered', {
    'hand over': 'handed to the connection at 2026-07-01T00:00:00.000Z',
    write: 'written to its socket by 2026-07-01T00:00:00.005Z: it has sent all of it',
  });
});

test('a result for a slow client waits, and is written when its socket has taken what came before it', async () => {
  const { time, ann, carry, told } = setUpOne();
  ann.wire.slowFrom = 1;
  await carry(0, 1, 2);
  assert.equal(told(0).verdict, 'delivered');
  expectSaid(told(2), 'waiting for a slow client', {
    'hand over': /handed to the connection at .*, behind \d+ bytes that waited for the client/,
  });
  ann.wire.slowFrom = Infinity;
  time.advance(1_500);
  ann.wire.drain();
  await setImmediate();
  expectSaid(told(2), 'delivered', { write: /^written to its socket by 2026-07-01T00:00:01\.500Z/ });
});

test('a result that a later one has taken the place of is skipped for slowness, the later one is not', async () => {
  const delivery = { ...throttled, throttleMs: 0 };
  const { ann, carry, told, verdicts } = setUpOne({ binding: { delivery } });
  ann.wire.slowFrom = 1;
  await carry(0, 1, 2, 3);
  const waiting = 'waiting for a slow client';
  assert.deepEqual(verdicts(0, 1, 2, 3), ['delivered', waiting, 'skipped for slowness', waiting]);
  const skip = /^left out at .* by onSlow: CONFLATE, as a later result took its place$/;
  assert.match(textOf(told(2), 'skip') ?? '', skip);
});

test('an event that a throttle holds is superseded once a later one has come, and stays so', async () => {
  const { time, carry, told, verdicts } = setUpOne({ binding: { delivery: throttled } });
  await carry(0, 1);
  assert.equal(told(1).verdict, 'held by a throttle');
  await carry(2);
  assert.deepEqual(verdicts(0, 1, 2), ['delivered', 'superseded', 'held by a throttle']);
  time.advance(100);
  await setImmediate();
  assert.deepEqual(verdicts(0, 1, 2), ['delivered', 'superseded', 'delivered']);
  assert.equal(textOf(told(1), 'throttle'), 'bids 0/2 came before throttleMs were over, and took its place');
});

test('an event is superseded for viewers that the later one is for, and delivered to all others', async () => {
  const { time, bus, carry, watching, verdicts } = setUp({
    binding: { delivery: throttled, filter: byRole },
  });
  const [ann, bob] = watching(person('ann', 'buyer'), person('bob', 'seller'));
  await carry(0, 1);
  bus.carry('bids:id=a', 2, { roles: ['buyer'] });
  assert.deepEqual(verdicts(ann, 1, 2), ['superseded', 'held by a throttle']);
  assert.deepEqual(verdicts(bob, 1, 2), ['held by a throttle', 'filtered out']);
  time.advance(100);
  await setImmediate();
  assert.deepEqual(verdicts(ann, 1, 2), ['superseded', 'delivered']);
  assert.deepEqual(verdicts(bob, 1, 2), ['delivered', 'filtered out']);
});

test('an event that comes when MAX_WAITING_EVENTS wait for their executions is told as skipped for that', async () => {
  const { executions, execute } = heldExecutions();
  const { bus, verdicts } = setUpOne({ maxWaiting: 2, execute });
  for (const offset of [0, 1, 2]) bus.carry('bids:id=a', offset, {});
  assert.deepEqual(verdicts(0, 1, 2), ['under way', 'under way', 'skipped at MAX_WAITING_EVENTS']);
  for (const { resolve } of executions) resolve();
  await setImmediate();
  await setImmediate();
  assert.deepEqual(verdicts(0, 1, 2), ['delivered', 'delivered', 'skipped at MAX_WAITING_EVENTS']);
});

test('a result that waits for that of an earlier event is under way until it is handed over', async () => {
  const { executions, execute } = heldExecutions();
  const { time, bus, told } = setUpOne({ execute });
  for (const offset of [0, 1]) bus.carry('bids:id=a', offset, {});
  executions[1]?.resolve();
  await setImmediate();
  expectSaid(told(1), 'under way', { order: 'its result waits for those of earlier events' });
  time.advance(70);
  executions[0]?.resolve();
  await setImmediate();
  await setImmediate();
  assert.equal(textOf(told(1), 'hand over'), 'handed to the connection at 2026-07-01T00:00:00.070Z');
});

test('errors of an execution are told with their paths', async () => {
  const { carry, told } = setUpOne({
    execute: () => ({ data: null, errors: [new GraphQLError('no seller', { path: ['bid', 'seller'] })] }),
  });
  await carry(0);
  expectSaid(told(), 'executed with an error', { error: 'bid.seller: no seller' });
});

test('of two operations with the same field and variables each is told what became of it', async () => {
  const other = { ...operation(), query: 'subscription Other { bid }', name: 'Other' } as Operation;
  const { connect, subscribe, ask, ann, carry } = setUpOne();
  subscribe(ann, other);
  subscribe(connect(), other);
  await carry(0);
  const [one, two] = ask(ann).map((said) => textOf(said, 'execute'));
  assert.equal(one, 'its group has 1 subscriber; 1 execution so far');
  assert.equal(two, 'its group has 2 subscribers; 1 execution so far');
});

test('an event that came for other subscriptions only is of another channel', () => {
  const { bus, connect, subscribe, told } = setUpOne();
  subscribe(connect(), ASKED, 'b');
  expectSaid(told(4), 'not recorded', {
    record: /^events of bids are recorded since 2026-07-01T00:00:00\.000Z/,
  });
  bus.carry('bids:id=b', 5, {});
  expectSaid(told(5), 'other channel', {
    channel: 'it came for other subscriptions, and not over bids:id=a',
  });
});

test('a copy of an event from before the recording is told as a copy', () => {
  const { bus, connect, subscribe, askOne } = setUp();
  const ann = subscribe(connect());
  bus.carry('bids:id=a', 5, {});
  askOne(ann, 5);
  bus.carry('bids:id=a', 5, {});
  expectSaid(askOne(ann, 5), 'not recorded', {
    channel: 'it came over bids:id=a before the recording began, and what came since was a copy',
  });
});

test('there is no answer for a connection that is not there, and without one it is of the event alone', () => {
  const { explainer } = setUp();
  const place = { topic: 'bids', partition: 0, offset: 0 };
  assert.equal(explainer.explain('none', place), undefined);
  const answer = explainer.explain(undefined, place);
  assert.deepEqual([answer?.connection, answer?.consumed, answer?.subscriptions], [null, null, []]);
});

/** Much more than the events of a test take. */
const ROOM = 1_000_000;

test('an event that came while nothing was recorded is known to have come, and its filter is computed', () => {
  const filter = filterOn('role', (event, viewer) => {
    return (event as { to: string }).to === (viewer as { role: string }).role;
  });
  const { time, bus, connect, subscribe, askOne } = setUp({ binding: { filter } }, ROOM);
  const [ann, bob] = [
    subscribe(connect(person('ann', 'buyer'))),
    subscribe(connect(person('bob', 'seller'))),
  ];
  time.advance(1_500);
  bus.carry('bids:id=a', 0, { to: 'buyer' });
  expectSaid(askOne(ann), 'let through', {
    channel: 'it came over bids:id=a at 2026-07-01T00:00:01.500Z',
    filter: 'computed now, with the viewer as it is now: the event is let through',
    execute:
      'whether the client had subscribed by then, and what it was sent, is known of events that are recorded',
  });
  expectSaid(askOne(bob), 'filtered out', {
    filter: 'computed now, with the viewer as it is now: @filter keeps the event back',
  });
});

test('an event of a field that is throttled may have been superseded while nothing was recorded', async () => {
  const { carry, connect, subscribe, askOne } = setUp({ binding: { delivery: throttled } }, ROOM);
  const ann = connect();
  subscribe(ann);
  await carry(0, 1, 2);
  const said = askOne(ann, 1);
  assert.equal(said.verdict, 'let through, or superseded');
  assert.equal(
    textOf(said, 'throttle'),
    'the field is throttled, by throttleMs: 100: a later event may have taken its place',
  );
});

test('of an event that is recorded the recording tells, though it is kept too', async () => {
  const { bus, carry, connect, subscribe, askOne } = setUp({}, ROOM);
  const ann = subscribe(connect());
  bus.carry('bids:id=a', 0, {});
  assert.equal(askOne(ann, 0).verdict, 'let through');
  await carry(1);
  assert.equal(askOne(ann, 1).verdict, 'delivered');
  assert.equal(askOne(ann, 0).verdict, 'let through');
});

test('a filter that fails lets no event through when it is computed later, as when it was dispatched', () => {
  const filter = filterOn(undefined, () => {
    throw new Error('on purpose');
  });
  const { bus, connect, subscribe, askOne } = setUp({ binding: { filter } }, ROOM);
  const ann = subscribe(connect());
  bus.carry('bids:id=a', 0, {});
  assert.equal(askOne(ann).verdict, 'filtered out');
});

test('an event from before the connection was opened is told as such', () => {
  const { time, bus, connect, subscribe, askOne } = setUp({}, ROOM);
  subscribe(connect());
  bus.carry('bids:id=a', 0, {});
  time.advance(2_000);
  expectSaid(askOne(subscribe(connect())), 'before it connected', {
    connect: 'the connection was opened later, at 2026-07-01T00:00:02.000Z',
  });
});

test('an event that is too large to be kept has no filter to compute, and one without a filter needs none', () => {
  const filter = filterOn(undefined, () => true);
  for (const [binding, verdict] of [
    [{ filter }, 'not kept'],
    [{}, 'let through'],
  ] as const) {
    const { bus, connect, subscribe, askOne } = setUp({ binding }, 500);
    const ann = subscribe(connect());
    bus.carry('bids:id=a', 0, { text: 'x'.repeat(1_000) });
    assert.equal(askOne(ann).verdict, verdict);
  }
});

test('an event that was consumed here, and has not come, is explained without a recording', () => {
  const { consumed, connect, subscribe, route, verdicts } = setUp({}, ROOM);
  const ann = subscribe(connect());
  consumed.listener({ step: 'unsubscribed', record: route(0, 'b') });
  consumed.listener({ step: 'unsubscribed', record: route(1, 'a') });
  consumed.listener({ step: 'published', record: route(2, 'a') });
  const expected = ['other channel', 'not published', 'did not reach this process'];
  assert.deepEqual(verdicts(ann, 0, 1, 2), expected);
});

test('the last five events of a topic, and of a key, are those consumed and those that came', () => {
  const { time, bus, route, connect, subscribe, explainer } = setUp({}, ROOM);
  const ann = subscribe(connect());
  for (let offset = 0; offset < 8; offset += 1) {
    route(offset, undefined, { partition: 1, key: Buffer.from(offset < 6 ? 'S1' : 'S2') });
    time.advance(1);
  }
  bus.carry('bids:id=a', 20, { id: 'S1' });
  bus.carry('bids:id=a', 21, { id: 5 }, { key: 'S2' });
  const last = (key?: string, partition?: number): string[] =>
    (explainer.last(ann.id, { topic: 'bids', partition, key })?.events ?? []).map(
      (event) => `${event.partition}/${event.offset}`,
    );
  assert.deepEqual(last(), ['0/21', '0/20', '1/7', '1/6', '1/5']);
  assert.deepEqual(last('S1'), ['0/20', '1/5', '1/4', '1/3', '1/2']);
  assert.deepEqual(last('S2'), ['0/21', '1/7', '1/6']);
  assert.deepEqual(last('5'), ['0/21']);
  assert.deepEqual(last('S2', 1), ['1/7', '1/6']);
  assert.deepEqual(last('S3'), []);
  assert.equal(explainer.last('none', { topic: 'bids', partition: undefined, key: undefined }), undefined);
  const known = explainer.last(undefined, { topic: 'bids', partition: undefined, key: undefined });
  const since = '2026-07-01T00:00:00.000Z';
  assert.deepEqual(known?.kept, { consumed: { since, events: 8 }, arrived: { since, events: 2 } });
});

test('events of a key that are recorded are found though they are not among the last any more', () => {
  const { time, route, explainer } = setUp({}, ROOM);
  explainer.explain(undefined, { topic: 'bids', partition: 0, offset: 0 });
  for (let offset = 0; offset < 100; offset += 1) {
    route(offset, offset === 3 ? 'S1' : 'other');
    time.advance(1);
  }
  const found = explainer.last(undefined, { topic: 'bids', partition: undefined, key: 'S1' });
  assert.deepEqual(found?.events, [{ partition: 0, offset: 3, at: '2026-07-01T00:00:00.003Z' }]);
});
