import assert from 'node:assert/strict';
import test from 'node:test';
import { channelTable } from '../../../src/hub/channel-table.ts';
import { groupTable, type InspectedGroup } from '../../../src/hub/group-table.ts';
import { ExecutionCosts } from '../../../src/hub/execution-costs.ts';
import { range } from '../../helpers/numbers.ts';
import { FakeSubscriber, operation, setUp, settled } from './parts.ts';

const everything = { descending: true, limit: 100, search: '' };
const { signal } = new AbortController();

type Row = Readonly<Record<string, unknown>>;

/** A hub whose executions take 5 ms each and read the role of a viewer. */
function setUpRoles({ isAsync = false, binding = {} }: { isAsync?: boolean; binding?: object } = {}) {
  let now = 0;
  const parts = setUp({
    binding,
    now: () => now,
    execute: (_event, _variables, context) => {
      now += 5;
      const { role } = context.viewer as { role: string };
      const result = { data: { role } };
      return isAsync ? settled().then(() => ((now += 100), result)) : result;
    },
  });
  const { hub } = parts;
  const join = (role: string, id: string) => new FakeSubscriber({ role }).join(hub, asked, { id });
  const asked = operation();
  const groups = async (sort = 'subscribers'): Promise<readonly Row[]> =>
    (await hub.inspector.groups.list({ ...everything, sort }, signal)).rows as readonly Row[];
  return { ...parts, join, groups };
}

test('the table of groups shows what splits a group, and what that costs', async () => {
  const { bus, join, groups } = setUpRoles();
  for (const role of ['a', 'b', 'c', 'a']) join(role, '7');
  join('a', '8');
  for (const channel of ['bids:id=7', 'bids:id=8']) await bus.acknowledge(channel);
  for (const offset of [1, 2]) bus.carry('bids:id=7', offset, {});
  bus.carry('bids:id=8', 3, {});

  const [split, other] = await groups();
  const { id, ...rest } = split ?? {};
  assert.deepEqual(rest, {
    field: 'bid',
    topic: 'bids',
    operationName: null,
    document: 'subscription { bid }',
    variables: 'id:"7"',
    channels: { count: 1, first: ['bids:id=7'] },
    subscribers: 4,
    live: true,
    events: 2,
    waiting: 0,
    executions: 6,
    executionsPerEvent: 3,
    ms: 30,
    awaitedMs: 0,
    sharing: 'READS',
    unshared: 4,
    buckets: 3,
    splits: [{ path: 'role', executions: 4 }],
  });
  assert.deepEqual([other?.['unshared'], other?.['buckets'], other?.['splits']], [0, 1, []]);
  const [first] = await groups('unshared');
  assert.equal(first?.['id'], id, 'a group keeps its id');
  assert.notEqual(other?.['id'], id);
});

test('a group of a field that never shares is split into its subscribers', async () => {
  const { join, bus, groups } = setUpRoles({ binding: { shares: false } });
  for (let count = 0; count < 3; count += 1) join('a', '7');
  bus.carry('bids:id=7', 1, {});
  const [group] = await groups();
  assert.deepEqual([group?.['sharing'], group?.['buckets']], ['NEVER', 3]);
  assert.deepEqual(group?.['splits'], [{ path: 'sharing: NEVER', executions: 2 }]);
});

test('the table of groups shows how long asynchronous executions took, apart from their part of the event loop', async () => {
  const { bus, join, groups } = setUpRoles({ isAsync: true });
  join('a', '7');
  bus.carry('bids:id=7', 1, {});
  assert.equal((await groups())[0]?.['waiting'], 1);
  await settled();
  await settled();
  const [group] = await groups();
  assert.deepEqual([group?.['waiting'], group?.['ms'], group?.['awaitedMs']], [0, 5, 105]);
});

test('what executions have cost is told by path, the path that has cost most first', () => {
  const costs = new ExecutionCosts();
  for (const path of ['role', 'org.id', 'org.id']) costs.split(path);
  assert.equal(costs.unshared, 3);
  assert.deepEqual(costs.splits, [
    { path: 'org.id', executions: 2 },
    { path: 'role', executions: 1 },
  ]);
});

test('the table of channels counts the events of each, copies left out', async () => {
  const { bus, hub, join } = setUpRoles();
  for (const role of ['a', 'b']) join(role, '7');
  join('a', '8');
  for (const offset of [1, 2, 2]) bus.carry('bids:id=7', offset, {});
  const list = (sort: string, search = '') =>
    hub.inspector.channels.list({ ...everything, sort, search }, signal);
  assert.deepEqual((await list('events')).rows, [
    { name: 'bids:id=7', groups: 1, subscribers: 2, events: 2 },
    { name: 'bids:id=8', groups: 1, subscribers: 1, events: 0 },
  ]);
  assert.deepEqual((await list('events', 'ID=8')).matching, 1);
});

const HUGE = 'x'.repeat(1_000_000);

test('what clients send is shortened, whatever size it has', async () => {
  const group: InspectedGroup = {
    size: 1,
    counts: { live: true, events: 0, waiting: 0, costs: new ExecutionCosts() },
    plan: {
      field: 'bid',
      topic: 'bids',
      operation: { query: HUGE, name: HUGE },
      variables: {},
      key: HUGE,
      channels: Array.from({ length: 100 }, () => HUGE),
      shares: false,
    },
  };
  const many = new Map(range(0, 10).map((size) => [size, new Map([['', { ...group, size }]])]));
  const groups = await groupTable(many).list({ ...everything, sort: 'subscribers' }, signal);
  assert.equal(groups.count, 10);
  assert.ok(JSON.stringify(groups.rows).length < 10 * 3_000);
  const row = groups.rows[0] as Row;
  assert.equal(row['sharing'], 'NEVER');
  assert.match(String(row['operationName']), /^x{50}/);
  const channels = new Map([['', { name: HUGE, groups: new Set([group]), offsets: { events: 1 } }]]);
  const { rows } = await channelTable(channels).list({ ...everything, sort: 'name' }, signal);
  assert.ok(JSON.stringify(rows).length < 1_000);
});

test('a table of a hundred thousand channels looks at a bounded number of groups in each turn', async () => {
  const group = { size: 2 };
  const groups = new Set([group]);
  const channels = new Map(
    range(0, 100_000).map((events) => [
      `${events}`,
      { name: `bids:id=${events}`, groups, offsets: { events } },
    ]),
  );
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { count, rows } = await channelTable(channels).list({ ...everything, sort: 'events' }, signal);
  isOver = true;
  assert.equal(count, 100_000);
  assert.deepEqual(rows[0], { name: 'bids:id=99999', groups: 1, subscribers: 2, events: 99_999 });
  assert.ok(turns >= 50, `${turns} turns`);
});
