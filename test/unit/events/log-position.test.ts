import assert from 'node:assert/strict';
import test from 'node:test';
import { isAfter, leaderEpochOf, logEpoch } from '../../../src/events/log-position.ts';

const at = (offset: number, leaderEpoch?: number, resets = 0) => ({
  offset,
  epoch: logEpoch(leaderEpoch, resets),
});

test('an offset that is given again in the same leader epoch, or a lower one, is another record after a reset of the position', () => {
  assert.equal(isAfter(at(40, 3, 1), at(99, 3)), true);
  assert.equal(isAfter(at(40, 2, 1), at(99, 3)), true);
  assert.equal(isAfter(at(40, 3, 2), at(99, 3, 1)), true);
  assert.equal(isAfter(at(99, 3, 1), at(40, 3, 2)), false);
  assert.equal(isAfter(at(41, 3, 2), at(40, 3, 2)), true);
  assert.equal(isAfter(at(40, 3, 2), at(40, 3, 2)), false);
});

test('a record of a pod that has read of no reset is compared by leader epoch and offset, so that it is no copy for ever', () => {
  assert.equal(isAfter(at(39, 3), at(40, 3, 1)), false);
  assert.equal(isAfter(at(41, 3), at(40, 3, 1)), true);
  assert.equal(isAfter(at(39), at(40, 3, 1)), false);
  assert.equal(isAfter(at(41), at(40, 3, 1)), true);
  assert.equal(isAfter(at(40, 4), at(41, 3, 1)), true);
  // Pods of the version before have published what the log has lost, without an epoch.
  assert.equal(isAfter(at(40, 3, 1), at(99)), true);
});

test('an epoch holds the leader epoch, which fetches name, however often the position was reset', () => {
  for (const [leaderEpoch, resets] of [
    [0, 1],
    [2 ** 31 - 1, 99_999],
  ] as const)
    assert.equal(leaderEpochOf(at(0, leaderEpoch, resets)), leaderEpoch);
  assert.equal(leaderEpochOf(at(0)), undefined);
});
