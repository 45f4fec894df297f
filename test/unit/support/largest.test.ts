import assert from 'node:assert/strict';
import test from 'node:test';
import { largest } from '../../../src/support/largest.ts';

const itself = (value: number): number => value;

test('the largest of many come largest first, from any position', () => {
  const values = Array.from({ length: 1_000 }, (_, index) => (index * 617) % 1_000);
  for (const count of [1, 2, 7, 999, 1_000]) {
    const expected = Array.from({ length: count }, (_, index) => 999 - index);
    assert.deepEqual(largest(values, count, itself), expected, String(count));
  }
});

test('all are returned if there are fewer than asked for', () => {
  assert.deepEqual(largest([1, 3, 2], 10, itself), [3, 2, 1]);
  assert.deepEqual(largest([], 10, itself), []);
});
