import assert from 'node:assert/strict';
import test from 'node:test';
import { UNITS } from '../../../src/hub/work-budget.ts';
import { budgetOf, FakeSubscriber, filterOn, operation, settled, setUp } from './parts.ts';
import { range, upTo } from '../../helpers/numbers.ts';

const GROUPS = 96;

/** After so many groups a turn has no time for more. */
const GROUPS_A_TURN = 16;

/** Groups of one channel, the filter of each of which takes so much. */
function setUpGroups(comparisons: number, passes: boolean, groups = GROUPS) {
  const budget = budgetOf();
  const filter = filterOn(undefined, () => passes, { comparisons, scans: 0 });
  const { hub, bus, metrics } = setUp({ binding: { key: undefined, filter }, budget });
  const asked = operation(['group']);
  const join = (group: number): FakeSubscriber => new FakeSubscriber().join(hub, asked, { group });
  const subscribers = range(0, groups).map(join);
  let sent = 0;
  const send = (): void => bus.carry('bids', (sent += 1), { n: sent });
  return { budget, hub, metrics, subscribers, join, send };
}

/** Filters of so many groups are what a turn has time for. */
const long = () => {
  const rest = UNITS.turn / GROUPS_A_TURN - UNITS.group - UNITS.filter;
  return setUpGroups(rest / UNITS.comparison, true);
};

const haveGot = (subscribers: readonly FakeSubscriber[]): number =>
  subscribers.filter(({ results }) => results.length > 0).length;

test('a filter that rejects an event is work of the turn, and counted', async () => {
  const { budget, metrics, send, subscribers } = setUpGroups(3, false);
  send();
  const units = GROUPS * (UNITS.filter + 3 * UNITS.comparison);
  assert.ok(budget.spent >= units, `${budget.spent} units`);
  assert.ok(budget.spent < units + UNITS.group + UNITS.message, 'and no more');
  assert.equal((await metrics.filtered.get()).values[0]?.value, GROUPS);
  assert.equal(haveGot(subscribers), 0);
});

test('a filter that looks through values is work by the size of the message', () => {
  const budget = budgetOf();
  const filter = filterOn(undefined, () => false, { comparisons: 0, scans: 1 });
  const { hub, bus } = setUp({ binding: { key: undefined, filter }, budget });
  for (const group of range(0, GROUPS)) new FakeSubscriber().join(hub, operation(['group']), { group });
  bus.carry('bids', 1, { n: 'x'.repeat(3_200) });
  assert.ok(budget.spent >= GROUPS * 3_200 * UNITS.byte, `${budget.spent} units`);
});

test('a message for many groups is handed to as many in a turn as there is time for, and all get all in order', async () => {
  const { send, subscribers } = long();
  send();
  assert.equal(haveGot(subscribers), GROUPS_A_TURN);
  send();
  for (let turns = 2; turns <= GROUPS / GROUPS_A_TURN; turns += 1) {
    await settled();
    assert.equal(haveGot(subscribers), turns * GROUPS_A_TURN);
  }
  while (subscribers.at(-1)?.results.length !== 2) await settled();
  for (const subscriber of subscribers) assert.deepEqual(subscriber.numbers, [1, 2]);
});

test('who joins while a message is being handed on gets the later ones only, in a group that has it or lacks it, or a new one', async () => {
  const { send, subscribers, join } = long();
  send();
  const late = [join(0), join(GROUPS - 1), join(GROUPS)];
  const heard = (): number[][] => late.map(({ numbers }) => numbers);
  assert.deepEqual(heard(), [[], [], []]);
  assert.deepEqual(subscribers.at(-1)?.numbers, [1], 'the others of its group have it at once');
  send();
  while (late.some(({ results }) => results.length === 0)) await settled();
  assert.deepEqual(heard(), [[2], [2], [2]]);
  for (const subscriber of subscribers) assert.deepEqual(subscriber.numbers, [1, 2]);
});

test('who leaves while a message is being handed on gets nothing more', async () => {
  const { send, subscribers } = long();
  send();
  const left = subscribers.slice(GROUPS_A_TURN / 2, -1);
  for (const subscriber of left) subscriber.leave();
  const last = subscribers.at(-1) ?? assert.fail();
  while (last.results.length === 0) await settled();
  assert.equal(haveGot(subscribers), GROUPS_A_TURN + 1);
  send();
  while (last.results.length === 1) await settled();
  assert.deepEqual(last.numbers, upTo(2));
});
