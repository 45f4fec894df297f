import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExecutionResult } from 'graphql';
import { FakeSubscriber, filterOn, operation, settled, setUp } from './parts.ts';
import { upTo } from '../../helpers/numbers.ts';
import { Random } from '../../helpers/random.ts';
import { deferred } from '../../helpers/deferred.ts';

/** Viewers of one group: what the slow ones get waits until the test lets it. */
function viewersOf<const T extends readonly string[]>(names: T, options: Parameters<typeof setUp>[0]) {
  const waiting: { readonly go: () => void; readonly signal: AbortSignal }[] = [];
  const { hub, bus, value } = setUp({
    concurrency: 10_000,
    execute: ({ n }: { n: number }, _variables, { viewer, signal }) => {
      const name = String(viewer['name']);
      const result: ExecutionResult = { data: { n, name } };
      if (!name.startsWith('slow')) return result;
      const { promise, resolve } = deferred();
      waiting.push({ go: resolve, signal });
      return promise.then(() => result);
    },
    ...options,
  });
  const asked = operation();
  const subscribers = names.map((name) => new FakeSubscriber({ name }).join(hub, asked)) as {
    -readonly [K in keyof T]: FakeSubscriber;
  };
  let sent = 0;
  const send = (count: number): void => {
    for (const last = sent + count; sent < last;) bus.carry('bids', (sent += 1), { n: sent });
  };
  const letGo = async (): Promise<void> => {
    for (const { go } of waiting.splice(0)) go();
    await settled();
  };
  return { hub, subscribers, sent: () => sent, send, letGo, waiting, value };
}

interface Result {
  readonly data?: { readonly n: number };
  readonly errors?: readonly [{ readonly extensions: { readonly code: string; readonly skipped: number } }];
}

/** Numbers of events, and of those that are told to have been skipped, as negative numbers. */
const heard = ({ results }: FakeSubscriber): number[] =>
  (results as Result[]).map(({ data, errors }) => {
    if (errors === undefined) return data?.n ?? NaN;
    const { skipped } = errors[0].extensions;
    assert.deepEqual(errors[0].extensions, { code: 'EVENTS_SKIPPED', skipped });
    return -skipped;
  });

test('past the bound a group skips events and counts them, for a slow viewer alone: others get all of them, at once', async () => {
  const { subscribers, send, letGo, value } = viewersOf(['slow', 'quick'], { maxWaiting: 100 });
  const [slow, quick] = subscribers;
  send(150);
  assert.deepEqual([heard(slow), heard(quick)], [[], upTo(150)]);
  await letGo();
  assert.deepEqual(heard(slow), [...upTo(100), -50]);
  send(1);
  await letGo();
  assert.deepEqual([heard(slow).slice(101), heard(quick)], [[151], upTo(151)]);
  assert.equal(await value('groupOverflows'), 50);
});

test('events that the filter keeps from a slow viewer count neither as waiting nor as skipped', async () => {
  const filter = filterOn(
    'name',
    ({ n }, viewer) => (viewer as { name: string }).name === 'quick' || Number(n) % 10 === 0,
  );
  const { subscribers, send, letGo } = viewersOf(['slow', 'quick'], { maxWaiting: 3, binding: { filter } });
  const [slow, quick] = subscribers;
  send(59);
  assert.deepEqual(heard(quick), upTo(59));
  await letGo();
  assert.deepEqual(heard(slow), [10, 20, 30, -2]);
});

test('executions are aborted, and give their turns up, once all their subscribers have left', async () => {
  const { hub, subscribers, send, waiting, letGo } = viewersOf(['slow', 'slow', 'quick'], { concurrency: 4 });
  const [one, two, quick] = subscribers;
  const inspected = () => hub.inspector.inspect(1);
  send(10);
  const { running } = inspected().executions;
  assert.equal(waiting.length, running);
  // The first execution of a group starts before it is known to be asynchronous.
  assert.ok(running <= 5, `at most 5, got ${running}`);
  assert.ok(inspected().executions.waiting > 0, 'expected executions that wait for a place');
  one.leave();
  const aborted = (): boolean[] => waiting.map(({ signal }) => signal.aborted);
  assert.ok(!aborted().includes(true), 'the other still wants the result');
  two.leave();
  assert.ok(!aborted().includes(false));
  assert.equal(inspected().executions.running, running, 'places are taken until resolvers have ended');
  await letGo();
  assert.deepEqual(inspected().executions, { running: 0, waiting: 0, late: 0 });
  assert.deepEqual(heard(quick), upTo(10));
  assert.equal(inspected().groups.waiting, 0);
});

/** A hub with four places, all of which are held until the test ends. */
function heldPlaces() {
  const started: string[] = [];
  const end = deferred();
  const { hub, bus } = setUp({
    concurrency: 4,
    execute: (_event: object, { id }) => {
      started.push(String(id));
      return end.promise.then(() => ({ data: {} }));
    },
  });
  const join = (asked: ReturnType<typeof operation>, id: string, owner: object): void => {
    const subscriber = new FakeSubscriber();
    subscriber.owner = owner;
    subscriber.join(hub, asked, { id });
  };
  /** One event for all. @returns the ids of those that were executed */
  const startAll = (): readonly string[] => {
    for (const channel of bus.listeners.keys()) bus.carry(channel, 1, {});
    end.resolve();
    return started;
  };
  return { join, startAll };
}

test('subscriptions of one connection, however many, leave places for those of another', () => {
  const { join, startAll } = heldPlaces();
  const attacker = {};
  for (let id = 0; id < 20; id += 1) join(operation(), String(id), attacker);
  join(operation(), 'other', {});
  assert.deepEqual(startAll(), ['0', '1', 'other']);
});

test('a group with a subscriber of a busy connection does not wait behind that connection', () => {
  const { join, startAll } = heldPlaces();
  const attacker = {};
  const shared = operation();
  for (const id of '123456') join(operation(), id, attacker);
  join(shared, 'shared', attacker);
  join(shared, 'shared', {});
  assert.deepEqual(startAll(), ['1', '2', 'shared']);
});

test('however slow viewers are, each gets its events in order, and is told of each that it does not get', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = new Random(seed);
    const names = ['slow 0', 'slow 1', 'slow 2', 'slow 3', 'quick'];
    const { subscribers, sent, send, waiting, letGo, hub } = viewersOf(names, {
      maxWaiting: random.between(1, 4),
      concurrency: random.between(3, 22),
    });
    let leaver = subscribers[random.between(0, 3)];
    for (let step = 0; step < 200; step += 1) {
      if (random.chance(0.5)) {
        send(1);
      } else {
        for (const { go } of waiting.splice(random.between(0, waiting.length), random.between(1, 2))) go();
        await settled();
      }
      if (random.chance(1 / 150)) {
        leaver?.leave();
        leaver = undefined;
      }
    }
    while (waiting.length > 0) await letGo();
    for (const [index, subscriber] of subscribers.entries()) {
      let at = 0;
      for (const piece of heard(subscriber)) {
        if (piece > 0) assert.equal(piece, at + 1, `seed ${seed}, ${names[index]}`);
        at = piece > 0 ? piece : at - piece;
      }
      if (subscriber === leaver || names[index] === 'quick') assert.equal(at, sent());
    }
    assert.deepEqual(hub.inspector.inspect(1).executions, { running: 0, waiting: 0, late: 0 });
    assert.equal(hub.inspector.inspect(1).groups.waiting, 0, `seed ${seed}`);
  }
});
