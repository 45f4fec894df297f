import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { EventTrace } from '../../../src/events/trace.ts';
import type { Operation } from '../../../src/executor/operation.ts';
import { Explainer } from '../../../src/explain/explainer.ts';
import type { Explained } from '../../../src/explain/explanation.ts';
import { Group } from '../../../src/hub/group.ts';
import type { Json } from '../../../src/lazy/reads.ts';
import {
  ClientSubscription,
  type SubscriptionOwner,
} from '../../../src/transports/delivery/client-subscription.ts';
import { Flusher } from '../../../src/transports/delivery/flusher.ts';
import { SendQueue } from '../../../src/transports/delivery/send-queue.ts';
import { FakeFrameSink } from '../../helpers/fake-frame-sink.ts';
import { operation, setUp as setUpHub, withResolvers } from '../hub/parts.ts';
import { HeldTime } from './held-time.ts';

class Connection implements SubscriptionOwner {
  readonly wire = new FakeFrameSink();
  readonly sendQueue: SendQueue;
  readonly id: string;
  readonly viewer: Json;

  constructor(id: string, viewer: Json, flusher: Flusher) {
    this.id = id;
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

/** A hub, and an explainer that looks at it, on time that stands still. */
function setUp(options: HubSetUp = {}) {
  const trace = new EventTrace();
  const time = new HeldTime();
  const flusher: Flusher = new Flusher(time.now, () => undefined, {
    leftOut: ({ shared }, subscriber) => trace.listener?.({ step: 'left_out', result: shared, subscriber }),
    caughtUp: (sendQueue) => trace.listener?.({ step: 'caught_up', sendQueue }),
  });
  const { bus, hub } = setUpHub({ ...options, steps: trace, budget: flusher });
  const connections = new Map<string, Connection>();
  const joined = new Map<Connection, Group[]>();
  const explainer = new Explainer({
    trace,
    timers: time,
    now: time.now,
    connectionOf: (id) => connections.get(id),
    subscriptionsOf: (connection) => joined.get(connection as Connection) ?? [],
    refusedOf: () => [],
  });
  const connect = (viewer: Json = {}): Connection => {
    const connection = new Connection(`${connections.size + 1}`, viewer, flusher);
    connections.set(connection.id, connection);
    return connection;
  };
  const subscribe = (connection: Connection, asked: Operation = ASKED, id = 'a'): void => {
    const subscription = new Subscription('1', asked, {}, connection);
    const group = hub.join(asked, { id }, subscription);
    assert.ok(group instanceof Group);
    subscription.joined(group);
    joined.set(connection, [...(joined.get(connection) ?? []), group]);
  };
  /** What is said of the event to a connection's subscriptions. */
  const ask = ({ id }: Connection, offset = 0): readonly Explained[] => {
    const answer = explainer.explain(id, { topic: 'bids', partition: 0, offset });
    assert.ok(answer !== undefined);
    return answer.subscriptions;
  };
  const askOne = (connection: Connection, offset = 0): Explained => ask(connection, offset)[0] as Explained;
  return { trace, time, bus, connect, subscribe, ask, askOne, explainer };
}

const ASKED = operation();

/** In the words of the answer. */
const textOf = ({ steps }: Explained, step: string): string | undefined =>
  steps.find((one) => one.step === step)?.text;

const person = (id: string, role: string) => ({ id, role, token: `secret-${id}` });

/** Executes what reads these of the viewer. */
const reading = (...names: string[]): HubSetUp => ({
  execute: (_event, _variables, { viewer }) => ({
    data: Object.fromEntries(names.map((name) => [name, (viewer as Record<string, string>)[name]])),
  }),
});

test('a result that is shared is told with how many, and with the names of what their viewers agree on', async () => {
  const { bus, connect, subscribe, askOne } = setUp(reading('role'));
  const [ann, bob, cid] = [person('ann', 'buyer'), person('bob', 'buyer'), person('cid', 'seller')].map(
    connect,
  );
  assert.ok(ann && bob && cid);
  for (const connection of [ann, bob, cid]) {
    subscribe(connection);
    askOne(connection);
  }
  bus.carry('bids:id=a', 0, {});
  await setImmediate();
  const said = askOne(ann);
  assert.equal(said.verdict, 'delivered');
  assert.equal(
    textOf(said, 'execute'),
    'its group has 3 subscribers; 2 executions so far, as viewers differ in viewer.role',
  );
  assert.equal(
    textOf(said, 'share'),
    'its result is shared with 1 of 2 other subscribers whose viewers agree on: viewer.role',
  );
  assert.equal(
    textOf(askOne(cid), 'share'),
    'executed for this subscription alone: no other viewer has the same viewer.role',
  );
});

test('what viewers have where they were read is not told', async () => {
  const { bus, connect, subscribe, ask } = setUp(reading('token', 'id'));
  const ann = connect(person('ann', 'buyer'));
  const bob = connect(person('bob', 'buyer'));
  for (const connection of [ann, bob]) subscribe(connection);
  ask(ann);
  bus.carry('bids:id=a', 0, {});
  await setImmediate();
  const said = JSON.stringify(ask(ann));
  assert.match(said, /no other viewer has the same viewer\.id, viewer\.token/);
  assert.doesNotMatch(said, /secret|"ann"/);
});

test('a result of which nothing was read of viewers is shared by all', async () => {
  const { bus, connect, subscribe, askOne } = setUp();
  const [ann, bob] = [connect(person('ann', '')), connect(person('bob', ''))];
  for (const connection of [ann, bob]) subscribe(connection);
  askOne(ann);
  bus.carry('bids:id=a', 0, {});
  await setImmediate();
  assert.equal(
    textOf(askOne(ann), 'share'),
    'its result is shared with 1 of 1 other subscribers: nothing was read of viewers',
  );
});

test('with sharing: NEVER it is told that each subscriber is executed for alone', async () => {
  const { bus, connect, subscribe, askOne } = setUp({ binding: { shares: false } });
  const [ann, bob] = [connect(), connect()];
  for (const connection of [ann, bob]) subscribe(connection);
  askOne(ann);
  bus.carry('bids:id=a', 0, {});
  await setImmediate();
  assert.equal(textOf(askOne(ann), 'share'), 'executed for this subscription alone, by sharing: NEVER');
});

test('a delivery has the time when it was handed over, and the time when the turn had written it', async () => {
  const { time, bus, connect, subscribe, askOne } = setUp();
  const ann = connect();
  subscribe(ann);
  askOne(ann);
  bus.carry('bids:id=a', 0, {});
  assert.equal(askOne(ann).verdict, 'under way');
  time.advance(5);
  await setImmediate();
  const said = askOne(ann);
  assert.equal(said.verdict, 'delivered');
  assert.equal(textOf(said, 'hand over'), 'handed to the connection at 2026-07-01T00:00:00.000Z');
  assert.equal(
    textOf(said, 'write'),
    'written to its socket by 2026-07-01T00:00:00.005Z: it has sent all of it',
  );
});

test('a result for a slow client waits, and is written when its socket has taken what came before it', async () => {
  const { time, bus, connect, subscribe, askOne } = setUp();
  const ann = connect();
  ann.wire.slowFrom = 1;
  subscribe(ann);
  askOne(ann);
  for (const offset of [0, 1, 2]) {
    bus.carry('bids:id=a', offset, {});
    await setImmediate();
  }
  assert.equal(askOne(ann, 0).verdict, 'delivered');
  const said = askOne(ann, 2);
  assert.equal(said.verdict, 'waiting for a slow client');
  assert.match(
    textOf(said, 'hand over') ?? '',
    /handed to the connection at .*, behind \d+ bytes that waited for the client/,
  );
  ann.wire.slowFrom = Infinity;
  time.advance(1_500);
  ann.wire.drain();
  await setImmediate();
  const written = askOne(ann, 2);
  assert.equal(written.verdict, 'delivered');
  assert.match(textOf(written, 'write') ?? '', /^written to its socket by 2026-07-01T00:00:01\.500Z/);
});

test('a result that a later one has taken the place of is skipped for slowness, the later one is not', async () => {
  const { bus, connect, subscribe, askOne } = setUp({
    binding: { delivery: { keyOf: () => 'one', throttleMs: 0, onSlow: 'CONFLATE' } },
  });
  const ann = connect();
  subscribe(ann);
  askOne(ann);
  ann.wire.slowFrom = 1;
  for (const offset of [0, 1, 2, 3]) {
    bus.carry('bids:id=a', offset, {});
    await setImmediate();
  }
  const verdicts = [0, 1, 2, 3].map((offset) => askOne(ann, offset).verdict);
  assert.deepEqual(verdicts, [
    'delivered',
    'waiting for a slow client',
    'skipped for slowness',
    'waiting for a slow client',
  ]);
  assert.match(
    textOf(askOne(ann, 2), 'skip') ?? '',
    /^left out at .* by onSlow: CONFLATE, as a later result took its place$/,
  );
});

test('an event that comes when MAX_WAITING_EVENTS wait for their executions is told as skipped for that', async () => {
  const first = withResolvers();
  const { bus, connect, subscribe, askOne } = setUp({
    maxWaiting: 2,
    execute: () => first.promise.then(() => ({ data: {} })),
  });
  const ann = connect();
  subscribe(ann);
  askOne(ann);
  for (const offset of [0, 1, 2]) bus.carry('bids:id=a', offset, {});
  const verdicts = (): string[] => [0, 1, 2].map((offset) => askOne(ann, offset).verdict);
  assert.deepEqual(verdicts(), ['under way', 'under way', 'skipped at MAX_WAITING_EVENTS']);
  first.resolve();
  await setImmediate();
  await setImmediate();
  assert.deepEqual(verdicts(), ['delivered', 'delivered', 'skipped at MAX_WAITING_EVENTS']);
});

test('a result that waits for that of an earlier event is under way until it is handed over', async () => {
  const gates = [withResolvers(), withResolvers()];
  let begun = 0;
  const { time, bus, connect, subscribe, askOne } = setUp({
    execute: () => (gates[begun++]?.promise ?? Promise.resolve()).then(() => ({ data: {} })),
  });
  const ann = connect();
  subscribe(ann);
  askOne(ann);
  for (const offset of [0, 1]) bus.carry('bids:id=a', offset, {});
  gates[1]?.resolve();
  await setImmediate();
  const said = askOne(ann, 1);
  assert.deepEqual(
    [said.verdict, textOf(said, 'order')],
    ['under way', 'its result waits for those of earlier events'],
  );
  time.advance(70);
  gates[0]?.resolve();
  await setImmediate();
  await setImmediate();
  assert.equal(textOf(askOne(ann, 1), 'hand over'), 'handed to the connection at 2026-07-01T00:00:00.070Z');
});

test('errors of an execution are told with their paths', async () => {
  const { bus, connect, subscribe, askOne } = setUp({
    execute: () => ({ data: null, errors: [new GraphQLError('no seller', { path: ['bid', 'seller'] })] }),
  });
  const ann = connect();
  subscribe(ann);
  askOne(ann);
  bus.carry('bids:id=a', 0, {});
  await setImmediate();
  const said = askOne(ann);
  assert.deepEqual(
    [said.verdict, textOf(said, 'error')],
    ['executed with an error', 'bid.seller: no seller'],
  );
});

test('of two operations with the same field and variables each is told what became of it', async () => {
  const other = { ...operation(), query: 'subscription Other { bid }', name: 'Other' } as Operation;
  const { bus, connect, subscribe, ask } = setUp();
  const [ann, bob] = [connect(), connect()];
  subscribe(ann, ASKED);
  subscribe(ann, other);
  subscribe(bob, other);
  ask(ann);
  bus.carry('bids:id=a', 0, {});
  await setImmediate();
  assert.deepEqual(
    ask(ann).map((said) => textOf(said, 'execute')),
    ['its group has 1 subscriber; 1 execution so far', 'its group has 2 subscribers; 1 execution so far'],
  );
});

test('an event that came for other subscriptions only is of another channel', () => {
  const { bus, connect, subscribe, askOne } = setUp();
  const [ann, bob] = [connect(), connect()];
  subscribe(ann);
  subscribe(bob, ASKED, 'b');
  const before = askOne(ann, 4);
  assert.equal(before.verdict, 'not recorded');
  assert.match(
    textOf(before, 'record') ?? '',
    /^events of bids are recorded since 2026-07-01T00:00:00\.000Z/,
  );
  bus.carry('bids:id=b', 5, {});
  const said = askOne(ann, 5);
  assert.deepEqual(
    [said.verdict, textOf(said, 'channel')],
    ['other channel', 'it came for other subscriptions, and not over bids:id=a'],
  );
});

test('a copy of an event from before the recording is told as a copy', () => {
  const { bus, connect, subscribe, askOne } = setUp();
  const ann = connect();
  subscribe(ann);
  bus.carry('bids:id=a', 5, {});
  askOne(ann, 5);
  bus.carry('bids:id=a', 5, {});
  const said = askOne(ann, 5);
  assert.deepEqual(
    [said.verdict, textOf(said, 'channel')],
    ['not recorded', 'it came over bids:id=a before the recording began, and what came since was a copy'],
  );
});

test('there is no answer for a connection that is not there, and without one it is of the event alone', () => {
  const { explainer } = setUp();
  const place = { topic: 'bids', partition: 0, offset: 0 };
  assert.equal(explainer.explain('none', place), undefined);
  const answer = explainer.explain(undefined, place);
  assert.deepEqual([answer?.connection, answer?.consumed, answer?.subscriptions], [null, null, []]);
});
