import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arrivals } from '../../../loadtest/drivers/arrivals.ts';

test('A partition has stood still for as long as nothing of it came, also if nothing comes any more', () => {
  let now = 0;
  const arrivals = new Arrivals(2, () => now);
  now = 40;
  arrivals.add(0, [0]);
  now = 50;
  arrivals.add(0, [1, 2]);
  assert.equal(arrivals.longestOf([0]), 40);
  assert.equal(arrivals.longestOf([0, 1]), 50);
  now = 100;
  assert.equal(arrivals.longestOf([0]), 50);
});

test('What was before a restart does not count as standing still', () => {
  let now = 0;
  const arrivals = new Arrivals(1, () => now);
  now = 40;
  arrivals.restart();
  now = 45;
  assert.equal(arrivals.longestOf([0]), 5);
});

test('An event that comes again is counted, also after a restart; those of another partition are others', () => {
  const arrivals = new Arrivals(2, () => 0);
  arrivals.add(0, [0, 1]);
  arrivals.add(1, [0, 1]);
  assert.equal(arrivals.doubled, 0);
  arrivals.restart();
  arrivals.add(0, [1, 2]);
  assert.equal(arrivals.doubled, 1);
});
