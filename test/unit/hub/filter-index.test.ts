import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event } from '../../../src/events/event.ts';
import type { Binding, EventFilter, Requirement } from '../../../src/graph/graph.ts';
import { FilterIndex, type Indexed } from '../../../src/hub/filter-index.ts';
import { range } from '../../helpers/numbers.ts';
import { Random } from '../../helpers/random.ts';
import { FakeSubscriber, filterOn, nextGraph, operation, setUp } from './parts.ts';

interface Asking extends Indexed {
  readonly requires: Requirement | undefined;
}

const OPERATORS = ['in', 'gt', 'gte', 'lt', 'lte'] as const;
const VALUES = [-1, 0, 1, 2.5, 7, 'a', 'b', '7', '', null, true];
const EVENTS: readonly Event[] = [
  ...VALUES.map((status) => ({ status, price: { now: status } })),
  { status: [1], price: null },
  { price: { now: 3 } },
  {},
];

function drawn(random: Random): Asking {
  const operator = random.pick(OPERATORS);
  const orderable = VALUES.filter((value) => typeof value === 'number' || typeof value === 'string');
  const operands =
    operator === 'in'
      ? range(0, random.between(0, 3)).map(() => random.pick(VALUES))
      : [random.pick(orderable)];
  const path = random.pick([['status'], ['price', 'now']]);
  const requires = random.chance(0.1) ? undefined : { path, operator, operands };
  return asking(requires);
}

function asking(requires: Requirement | undefined): Asking {
  return { requires, plan: { filter: { ...filterOn(undefined, () => true)(), requires } } };
}

/** What an event must have, worked out for one requirement. */
function meets({ path, operator, operands }: Requirement, event: Event): boolean {
  const value = path.reduce<unknown>((at, name) => (at as Event | null | undefined)?.[name], event);
  const [operand] = operands as [number];
  if (operator === 'in') return operands.includes(value);
  if (typeof value !== typeof operand) return false;
  const [one, other] = [value as number, operand];
  return { gt: one > other, gte: one >= other, lt: one < other, lte: one <= other }[operator];
}

const all = <Group>(values: Iterator<Group>): Group[] => [...{ [Symbol.iterator]: () => values }];

test('an index finds each group whose requirement an event meets, and no other, while groups come and leave', () => {
  for (const seed of range(1, 21)) {
    const random = new Random(seed);
    const index = new FilterIndex<Asking>();
    const groups = new Set<Asking>();
    for (const _ of range(0, 200)) {
      const isJoining = groups.size < 5 || random.chance(0.6);
      const group = isJoining ? drawn(random) : random.pick([...groups]);
      index[isJoining ? 'add' : 'delete'](group);
      groups[isJoining ? 'add' : 'delete'](group);
      const event = random.pick(EVENTS);
      const expected = [...groups].filter(({ requires }) => requires === undefined || meets(requires, event));
      const found = index.matching(event);
      const wanted = all(found.values());
      assert.ok(found.size >= wanted.length && found.size <= groups.size);
      assert.equal(new Set(wanted).size, wanted.length, 'none is found twice');
      for (const each of expected) assert.ok(wanted.includes(each), `seed ${seed}`);
      // An operand that has come since the last event may not be sorted yet.
      const needless = wanted.filter((each) => !expected.includes(each) && each.requires?.operator === 'in');
      assert.deepEqual(needless, [], `seed ${seed}`);
    }
  }
});

test('groups that leave while an event is being handed on are not found any more, and none of the others is passed over', () => {
  const index = new FilterIndex<Asking>();
  const groups = range(0, 200).map((n) => asking({ path: ['price'], operator: 'gte', operands: [n] }));
  for (const group of groups) index.add(group);
  const values = index.matching({ price: 149 }).values();
  const seen = range(0, 50).map(() => values.next().value as Asking);
  for (const group of groups.slice(40, 60)) index.delete(group);
  const found = [...seen, ...all(values)].map(({ requires }) => requires?.operands[0]);
  assert.deepEqual(found, [...range(0, 50), ...range(60, 150)]);
  assert.equal(index.matching({ price: 149 }).size, 130);
});

const GROUPS = 100;

/** Groups of one channel that want one number each, or more, and how many of their filters were asked. */
function setUpGroups(options: Parameters<typeof setUp>[0] = {}, operator: Requirement['operator'] = 'in') {
  let asked = 0;
  const filterFor = (wanted: number): EventFilter => ({
    ...filterOn(undefined, (event) => {
      asked += 1;
      return operator === 'in' ? event['n'] === wanted : Number(event['n']) >= wanted;
    })(),
    requires: { path: ['n'], operator, operands: [wanted] },
  });
  const filter: Binding['filter'] = ({ n }) => filterFor(Number(n));
  const parts = setUp({ ...options, binding: { key: undefined, filter, ...options.binding } });
  const subscribers = range(0, GROUPS).map((n) =>
    new FakeSubscriber().join(parts.hub, operation(['n']), { n }),
  );
  const got = (): number[] => subscribers.flatMap(({ results }, n) => results.map(() => n));
  return { ...parts, filterFor, subscribers, got, asked: () => asked };
}

test('of many groups on a channel only those are asked whose requirement an event meets, and the others are counted', async () => {
  const { bus, metrics, got, asked } = setUpGroups();
  bus.carry('bids', 1, { n: 7 });
  assert.deepEqual([got(), asked()], [[7], 1]);
  assert.equal((await metrics.filtered.get()).values[0]?.value, GROUPS - 1);
});

test('groups that have left are neither asked nor counted', async () => {
  const { bus, metrics, subscribers, asked } = setUpGroups({}, 'gte');
  bus.carry('bids', 1, { n: -1 });
  for (const subscriber of subscribers.slice(0, 10)) subscriber.leave();
  bus.carry('bids', 2, { n: GROUPS });
  assert.equal(asked(), GROUPS - 10);
  bus.carry('bids', 3, { n: -1 });
  assert.equal((await metrics.filtered.get()).values[0]?.value, GROUPS + GROUPS - 10);
});

test('who looks at events is told of all groups, those too whose requirement they do not meet', () => {
  const steps: string[] = [];
  const trace = { listener: ({ step }: { readonly step: string }) => void steps.push(step) };
  const { bus, asked } = setUpGroups({ trace });
  bus.carry('bids', 1, { n: 7 });
  assert.equal(asked(), GROUPS);
  assert.equal(steps.filter((step) => step === 'dispatched').length, GROUPS);
});

test('a group with a throttle sees events too that its filter rejects', () => {
  const delivery = { keyOf: () => '', throttleMs: 0, onSlow: 'CONFLATE' } as const;
  const { bus, asked, got } = setUpGroups({ binding: { delivery } });
  bus.carry('bids', 1, { n: 7 });
  assert.deepEqual([got(), asked()], [[7], GROUPS]);
});

test('a graph that is replaced may have other filters for the groups that go on', () => {
  const { bus, hub, filterFor, got, asked } = setUpGroups();
  const next = nextGraph((_operation, event) => ({ data: event as Record<string, unknown> }));
  hub.replaceGraph(next, (plan) => ({ ...plan, filter: filterFor(Number(plan.variables['n']) + 1) }));
  bus.carry('bids', 1, { n: 7 });
  assert.deepEqual([got(), asked()], [[6], 1]);
});
