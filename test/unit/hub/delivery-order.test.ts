import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExecutionResult } from 'graphql';
import { Group } from '../../../src/hub/group.ts';
import { ReadSet } from '../../../src/lazy/reads.ts';
import { FakeSubscriber, heldExecutions, operation, settled, setUp, withResolvers } from './parts.ts';
import { upTo } from '../../helpers/numbers.ts';

test('a subscriber that joins while an event is being executed gets only the events after it', async () => {
  const { executions, execute } = heldExecutions();
  const { bus, join } = setUp({ execute });
  const asked = operation();
  const early = join(asked);
  bus.carry('bids', 1, { n: 1 });
  const late = join(asked);
  bus.carry('bids', 2, { n: 2 });
  const never = join(asked);
  executions[0]?.resolve();
  await settled();
  executions[1]?.resolve();
  await settled();
  assert.deepEqual(
    early.subscriber.results,
    [1, 2].map((n) => ({ data: { n } })),
  );
  assert.deepEqual(late.subscriber.results, [{ data: { n: 2 } }]);
  assert.deepEqual(never.subscriber.results, []);
});

test('a subscriber gets results in the order of the events, though some executions are asynchronous and some are not', async () => {
  const first = withResolvers();
  const { bus, join } = setUp({
    execute: (event: { n: number }) =>
      event.n === 1 ? first.promise.then(() => ({ data: event })) : { data: event },
  });
  const { subscriber } = join(operation());
  for (const n of [1, 2, 3]) bus.carry('bids', n, { n });
  assert.deepEqual(subscriber.results, []);
  first.resolve();
  await settled();
  assert.deepEqual(
    subscriber.results,
    [1, 2, 3].map((n) => ({ data: { n } })),
  );
});

test('past the bound a group skips events and counts them, and its subscribers get an error where they are missing', async () => {
  const { executions, execute } = heldExecutions();
  const { bus, join, value } = setUp({ maxWaiting: 2, execute });
  const { subscriber } = join(operation());
  for (const n of [1, 2, 3, 4]) bus.carry('bids', n, { n });
  executions[1]?.resolve();
  await settled();
  assert.deepEqual(subscriber.results, []);
  executions[0]?.resolve();
  await settled();
  bus.carry('bids', 5, { n: 5 });
  executions[2]?.resolve();
  await settled();
  const [one, two, told, five] = subscriber.results as { errors: { extensions: object }[] }[];
  assert.deepEqual(
    [one, two, five],
    [1, 2, 5].map((n) => ({ data: { n } })),
  );
  assert.deepEqual(told?.errors[0]?.extensions, { code: 'EVENTS_SKIPPED', skipped: 2 });
  assert.equal(subscriber.results.length, 4);
  assert.equal(await value('groupOverflows'), 2);
});

type Setup = NonNullable<Parameters<typeof setUp>[0]>;

/** Viewers of one group: what the slow ones get waits until the test lets it. */
function viewersOf(names: readonly string[], options: Partial<Setup> = {}) {
  const waiting: {
    readonly name: string;
    readonly n: number;
    readonly go: () => void;
    signal: AbortSignal;
  }[] = [];
  const { hub, bus, value } = setUp({
    concurrency: 10_000,
    execute: ({ n }: { n: number }, _variables, { viewer, signal }) => {
      const name = String(viewer['name']);
      const result: ExecutionResult = { data: { n, name } };
      if (!name.startsWith('slow')) return result;
      const { promise, resolve } = withResolvers();
      waiting.push({ name, n, go: resolve, signal });
      return promise.then(() => result);
    },
    ...options,
  });
  const asked = operation();
  const subscribers = names.map((name) => {
    const subscriber = new FakeSubscriber({ name });
    const group = hub.join(asked, {}, subscriber);
    assert.ok(group instanceof Group);
    return { name, subscriber, leave: () => hub.leave(group, subscriber) };
  });
  let sent = 0;
  const send = (count: number): void => {
    for (const last = sent + count; sent < last;) bus.carry('bids', (sent += 1), { n: sent });
  };
  const letGo = async (): Promise<void> => {
    for (const { go } of waiting.splice(0)) go();
    await settled();
  };
  return { bus, hub, subscribers, sent: () => sent, send, letGo, waiting, value };
}

/** Numbers of events, and of those that are told to have been skipped, as negative numbers. */
function heard({ results }: FakeSubscriber): number[] {
  return (results as { data?: { n: number }; errors?: { extensions: { skipped: number } }[] }[]).map(
    ({ data, errors }) => data?.n ?? -(errors?.[0]?.extensions.skipped ?? NaN),
  );
}

test('a viewer whose resolver is slow skips events alone: another of its group gets all of them, at once', async () => {
  const { subscribers, send, letGo, value } = viewersOf(['slow', 'quick'], { maxWaiting: 100 });
  const [slow, quick] = subscribers;
  assert.ok(slow && quick);
  send(150);
  assert.deepEqual(heard(quick.subscriber), upTo(150));
  assert.deepEqual(heard(slow.subscriber), []);
  await letGo();
  assert.deepEqual(heard(slow.subscriber), [...upTo(100), -50]);
  send(1);
  await letGo();
  assert.deepEqual(heard(slow.subscriber).slice(101), [151]);
  assert.deepEqual(heard(quick.subscriber), upTo(151));
  assert.equal(await value('groupOverflows'), 50);
});

test('two slow viewers are told each of what it has skipped itself', async () => {
  const { subscribers, send, waiting, letGo } = viewersOf(['slow 1', 'slow 2'], { maxWaiting: 3 });
  const [one, two] = subscribers;
  assert.ok(one && two);
  send(4);
  for (const { name, go } of waiting) if (name === 'slow 1') go();
  await settled();
  assert.deepEqual(heard(one.subscriber), [1, 2, 3, -1]);
  send(1);
  await letGo();
  assert.deepEqual(heard(one.subscriber), [1, 2, 3, -1, 5]);
  assert.deepEqual(heard(two.subscriber), [1, 2, 3, -2]);
});

test('events that the filter keeps from a slow viewer count neither as waiting nor as skipped', async () => {
  const reads = new ReadSet();
  reads.add('value', ['name']);
  const { subscribers, send, letGo } = viewersOf(['slow', 'quick'], {
    maxWaiting: 3,
    binding: {
      filter: () => ({
        reads,
        passes: ({ n }, viewer) => (viewer as { name: string }).name === 'quick' || Number(n) % 10 === 0,
      }),
    },
  });
  const [slow, quick] = subscribers;
  assert.ok(slow && quick);
  send(59);
  assert.deepEqual(heard(quick.subscriber), upTo(59));
  await letGo();
  assert.deepEqual(heard(slow.subscriber), [10, 20, 30, -2]);
});

test('a subscriber that leaves while it skips events leaves nothing behind', async () => {
  const { hub, subscribers, send, letGo } = viewersOf(['slow'], { maxWaiting: 2 });
  const [slow] = subscribers;
  assert.ok(slow);
  send(5);
  slow.leave();
  await letGo();
  assert.deepEqual(heard(slow.subscriber), []);
  assert.equal(hub.inspector.inspect(1).groups.waiting, 0);
});

test('executions are aborted, and give their turns up, once all their subscribers have left', async () => {
  const { hub, subscribers, send, waiting, letGo } = viewersOf(['slow', 'slow', 'quick'], { concurrency: 4 });
  const [one, two, quick] = subscribers;
  assert.ok(one && two && quick);
  send(10);
  const { running } = hub.inspector.inspect(1).executions;
  assert.equal(waiting.length, running);
  assert.ok(hub.inspector.inspect(1).executions.waiting > 0, 'expected executions that wait for a place');
  one.leave();
  assert.ok(
    waiting.every(({ signal }) => !signal.aborted),
    'the other still wants the result',
  );
  two.leave();
  assert.ok(waiting.every(({ signal }) => signal.aborted));
  assert.equal(
    hub.inspector.inspect(1).executions.running,
    running,
    'places are taken until resolvers have ended',
  );
  await letGo();
  assert.deepEqual(hub.inspector.inspect(1).executions, { running: 0, waiting: 0, late: 0 });
  assert.deepEqual(heard(quick.subscriber), upTo(10));
  assert.equal(hub.inspector.inspect(1).groups.waiting, 0);
});

/** A hub with four places, all of which are held until the test ends. */
function heldPlaces() {
  const started: string[] = [];
  const end = withResolvers();
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
    hub.join(asked, { id }, subscriber);
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
    let state = seed;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const names = Array.from({ length: 5 }, (_, index) => `${index === 4 ? 'quick' : 'slow'} ${index}`);
    const { subscribers, sent, send, waiting, letGo, hub } = viewersOf(names, {
      maxWaiting: 1 + random(4),
      concurrency: 3 + random(20),
    });
    let leaver = subscribers[random(4)];
    for (let step = 0; step < 200; step += 1) {
      if (random(2) === 0) {
        send(1);
      } else {
        for (const { go } of waiting.splice(random(waiting.length + 1), 1 + random(2))) go();
        await settled();
      }
      if (random(150) === 0) {
        leaver?.leave();
        leaver = undefined;
      }
    }
    while (waiting.length > 0) await letGo();
    for (const { name, subscriber } of subscribers) {
      let at = 0;
      for (const piece of heard(subscriber)) {
        if (piece > 0) assert.equal(piece, at + 1, `seed ${seed}, ${name}`);
        at = piece > 0 ? piece : at - piece;
      }
      if (subscriber === leaver?.subscriber || name.startsWith('quick')) assert.equal(at, sent());
    }
    assert.deepEqual(hub.inspector.inspect(1).executions, { running: 0, waiting: 0, late: 0 });
    assert.equal(hub.inspector.inspect(1).groups.waiting, 0, `seed ${seed}`);
  }
});
