import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '../../../src/support/clock.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('a sleep ends when its time is over, or when the signal aborts, and leaves neither timer nor listener', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const before = timers();
  await systemClock.sleep(1, signal);
  assert.deepEqual([getEventListeners(signal, 'abort').length, timers()], [0, before]);
  const long = systemClock.sleep(60_000, signal);
  assert.deepEqual([getEventListeners(signal, 'abort').length, timers()], [1, before + 1]);
  controller.abort('done');
  await long;
  assert.deepEqual([getEventListeners(signal, 'abort').length, timers()], [0, before]);
  await systemClock.sleep(60_000, signal);
  assert.equal(timers(), before);
});
