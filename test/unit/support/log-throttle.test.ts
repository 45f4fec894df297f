import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogThrottle } from '../../../src/support/log-throttle.ts';

test('the throttle drops lines past the limit of a period, and the next period says how many were suppressed', () => {
  let now = 0;
  const throttle = new LogThrottle({ lines: 2, periodMs: 100, now: () => now });
  const admit = (): number | undefined => throttle.admit();
  assert.deepEqual([admit(), admit(), admit(), admit()], [0, 0, undefined, undefined]);
  now = 99;
  assert.equal(admit(), undefined);
  now = 100;
  assert.deepEqual([admit(), admit(), admit()], [3, 0, undefined]);
});

test('a period begins with its first line, however long after the last period that is', () => {
  let now = 0;
  const throttle = new LogThrottle({ lines: 1, periodMs: 100, now: () => now });
  assert.equal(throttle.admit(), 0);
  now = 250;
  assert.equal(throttle.admit(), 0);
  now = 349;
  assert.equal(throttle.admit(), undefined);
  now = 350;
  assert.equal(throttle.admit(), 1);
});
