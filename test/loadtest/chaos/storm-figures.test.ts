import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pairsOf, stormComplaints } from '../../../loadtest/chaos/storm-figures.ts';

test('Pairs are counted from the client of a group that has least, in whichever process it is', () => {
  const places = [
    { 'update(c0)': { c0: 4 }, 'updates(c0,c1)': { c0: 9, c1: 7 } },
    { 'update(c0)': { c0: 2 } },
  ];
  assert.equal(pairsOf(places, { c0: 10, c1: 8 }), 10 - 2 + (10 - 9) + (8 - 7));
});

test('Figures at their bounds are in order, and each past its bound is told', () => {
  const fine = { executions: 10, pairs: 10, reads: 4, channels: 4, p99: { before: 5, during: 10 } };
  assert.deepEqual(stormComplaints(fine), []);
  assert.deepEqual(stormComplaints({ ...fine, executions: 11, reads: 5, p99: { before: 5, during: 11 } }), [
    'expected at most 10 executions, got 11',
    'expected at most 4 lists to be read of Redis, got 5',
    'expected at most 10 ms as the p99 of those that stay, got 11',
  ]);
});
