import assert from 'node:assert/strict';
import test from 'node:test';
import { largest } from '../../../src/support/largest.ts';
import { range } from '../../helpers/numbers.ts';

const itself = (value: number): number => value;

test('the largest of many come largest first, from any position', () => {
  const values = range(0, 1_000).map((index) => (index * 617) % 1_000);
  for (const count of [1, 2, 7, 999, 1_000]) {
    assert.deepEqual(largest(values, count, itself), range(1_000 - count, 1_000).toReversed(), `${count}`);
  }
});

test('all are returned if there are fewer than asked for', () => {
  assert.deepEqual(largest([1, 3, 2], 10, itself), [3, 2, 1]);
  assert.deepEqual(largest([], 10, itself), []);
});
