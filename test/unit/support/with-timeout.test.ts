import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { withTimeout } from '../../../src/support/with-timeout.ts';

const never = (): Promise<string> => new Promise(() => undefined);

test('work that ends in time gives its own outcome, and leaves no timer', async (t) => {
  const cleared = t.mock.method(globalThis, 'clearTimeout');
  const late = mock.fn(() => 'late');
  assert.equal(await withTimeout(Promise.resolve('done'), 10_000, late), 'done');
  await assert.rejects(withTimeout(Promise.reject(new Error('failed')), 10_000, late), /failed/);
  assert.equal(cleared.mock.callCount(), 2);
  assert.equal(late.mock.callCount(), 0);
});

test('work that takes longer is given up, and the caller’s fallback gives the result or error', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const given = withTimeout(never(), 100, () => 'late');
  const thrown = withTimeout(never(), 100, () => {
    throw new Error('too late');
  });
  const rejected = assert.rejects(thrown, /too late/);
  t.mock.timers.tick(100);
  assert.equal(await given, 'late');
  await rejected;
});

test('work that fails after its time is over goes unnoticed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const failing = new AbortController();
  const work = new Promise<string>((_resolve, reject) => {
    failing.signal.addEventListener('abort', () => reject(new Error('too late to matter')));
  });
  const given = withTimeout(work, 100, () => 'late');
  t.mock.timers.tick(100);
  failing.abort();
  assert.equal(await given, 'late');
});
