import assert from 'node:assert/strict';
import test from 'node:test';
import { FakeSubscriber, operation, settled, setUp } from './parts.ts';
import { range, upTo } from '../../helpers/numbers.ts';

const GROUPS = 100;

const MAX_WAITING = 3;

interface Result {
  readonly data: { readonly n: number };
  readonly errors: readonly [{ readonly extensions: { readonly skipped: number } }];
}

/** What an execution takes of a virtual clock. */
const EXECUTION_MS = 5;

/** Has the groups of one client: on one connection, or each on its own. */
const GREEDY = {
  'one connection': () => {
    const connection = {};
    return () => connection;
  },
  'one client, each on a connection of its own,': () => () => ({ client: 'ann' }),
};

/** A client with many groups that get the same events, and another one, the last to have joined, with one. */
function setUpGroups(kind: keyof typeof GREEDY = 'one connection') {
  let now = 0;
  const { hub, bus, value } = setUp({
    binding: { key: undefined },
    maxWaiting: MAX_WAITING,
    now: () => now,
    execute: (event: { n: number }) => {
      now += EXECUTION_MS;
      return { data: event };
    },
  });
  const asked = operation(['group']);
  const greedy = GREEDY[kind]();
  const [other, ...many] = range(0, GROUPS + 1).map((group) => {
    const subscriber = new FakeSubscriber();
    if (group > 0) subscriber.owner = greedy();
    return subscriber;
  }) as [FakeSubscriber, ...FakeSubscriber[]];
  for (const [group, subscriber] of [...many, other].entries()) subscriber.join(hub, asked, { group });
  let sent = 0;
  const send = (): void => bus.carry('bids', (sent += 1), { n: sent });
  const waiting = (): number => {
    const { executions } = hub.inspector.inspect(1);
    return executions.waiting + executions.late;
  };
  return { send, many, other, clock: () => now, value, waiting };
}

const countOf = (subscribers: readonly FakeSubscriber[]): number =>
  subscribers.reduce((sum, { results }) => sum + results.length, 0);

for (const [event, kind] of [
  ['first', 'one connection'],
  ['second', 'one connection'],
  ['second', 'one client, each on a connection of its own,'],
] as const) {
  test(`the ${event} event of a hundred groups takes several turns, and those of ${kind} keep no other waiting`, async () => {
    const { send, many, other, clock } = setUpGroups(kind);
    if (event === 'second') {
      send();
      while (countOf([...many, other]) <= GROUPS) await settled();
    }
    const before = { executed: countOf(many), others: other.results.length, at: clock() };
    send();
    const took = clock() - before.at;
    assert.ok(took > 0 && took < 150, `the turn took ${took} ms`);
    await settled();
    assert.equal(other.results.length, before.others + 1);
    assert.ok(countOf(many) < before.executed + GROUPS);
    while (countOf(many) < before.executed + GROUPS) await settled();
    for (const one of many) assert.deepEqual(one.numbers, other.numbers);
  });
}

test('while a connection can’t keep up with its groups, it skips events, and others get all of them at once', async () => {
  const { send, many, other, value, waiting } = setUpGroups();
  let most = 0;
  for (let n = 1; n <= 20; n += 1) {
    send();
    await settled();
    await settled();
    assert.equal(other.numbers.at(-1), n);
    most = Math.max(most, waiting());
  }
  assert.deepEqual(other.numbers, upTo(20));
  assert.ok((await value('groupOverflows')) > 0);
  assert.ok(most > GROUPS && most <= MAX_WAITING * GROUPS, `${most} executions waited`);
  while (waiting() > 0) await settled();
  // Each is told of every event that it did not get, at its place.
  for (const { results } of many) {
    let reached = 0;
    for (const { data, errors } of results as Partial<Result>[]) {
      reached += errors?.[0].extensions.skipped ?? 1;
      if (data !== undefined) assert.equal(data.n, reached);
    }
    assert.equal(reached, 20);
  }
});
