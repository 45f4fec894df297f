import assert from 'node:assert/strict';
import test from 'node:test';
import { DueThrottles } from '../../../../src/hub/throttle/due-throttles.ts';
import { UNITS } from '../../../../src/hub/work-budget.ts';
import { createLog } from '../../../../src/log.ts';
import { budgetOf, settled } from '../parts.ts';

const EVENT = UNITS.turn / 4;

function setUp() {
  const budget = budgetOf();
  const due = new DueThrottles(budget, createLog('silent'));
  const begun: string[] = [];
  const add = (name: string, count: number, fails = false): void => {
    let left = count;
    due.add({
      beginNext(): boolean {
        if (left === 0) return false;
        left -= 1;
        begun.push(name);
        budget.spend(EVENT);
        if (fails) throw new Error('refused on purpose');
        return true;
      },
    });
  };
  return { add, begun: () => begun.join('') };
}

test('throttles that are due in the same turn have one turn together, then the next ones', async () => {
  const { add, begun } = setUp();
  add('a', 3);
  add('b', 3);
  add('c', 3);
  assert.equal(begun(), 'aaab');
  await settled();
  assert.equal(begun(), 'aaabbbcc');
  await settled();
  assert.equal(begun(), 'aaabbbccc');
  await settled();
  add('d', 1);
  assert.equal(begun(), 'aaabbbcccd');
});

test('an event that fails ends neither the process nor the turn', async () => {
  const { add, begun } = setUp();
  add('a', 2, true);
  add('b', 3);
  assert.equal(begun(), 'aabb');
  await settled();
  assert.equal(begun(), 'aabbb');
});
