import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '../../../src/support/backoff.ts';
import { supervise } from '../../../src/support/supervise.ts';

test('waits double up to a bound, and each is between half of that and all of it', () => {
  const low = new Backoff({ firstMs: 100, maxMs: 300, random: () => 0 });
  const high = new Backoff({ firstMs: 100, maxMs: 300, random: () => 1 });
  assert.deepEqual([low.next(), low.next(), low.next(), low.next()], [50, 100, 150, 150]);
  assert.deepEqual([high.next(), high.next(), high.next(), high.next()], [100, 200, 300, 300]);
  high.reset();
  assert.equal(high.next(), 100);
});

/** Lives through the given lives, then stops. */
async function waitsBetween(lives: readonly { ms: number; error: unknown }[]) {
  let now = 0;
  let lived = 0;
  const waits: number[] = [];
  const crashes: unknown[] = [];
  const stopping = new AbortController();
  await supervise({
    run: async () => {
      const life = lives[lived++];
      if (life === undefined) return stopping.abort();
      now += life.ms;
      if (life.error instanceof Error) throw life.error;
      return life.error;
    },
    onCrash: (error) => void crashes.push(error),
    clock: {
      now: () => now,
      random: () => 1,
      sleep: (ms) => Promise.resolve(void waits.push(ms)),
    },
    stopping: stopping.signal,
  });
  return { waits, crashes };
}

test('supervise starts a task anew that has ended, after waits that grow', async () => {
  const error = new Error('crash');
  const { waits, crashes } = await waitsBetween([
    { ms: 1, error },
    { ms: 1, error: 'crash' },
    { ms: 1, error: undefined },
  ]);
  assert.deepEqual(waits, [500, 1_000, 2_000]);
  assert.deepEqual(crashes, [error, 'crash']);
});

test('after a task has run long the wait is short again, after a short run it is not', async () => {
  const { waits } = await waitsBetween([
    { ms: 1, error: 'x' },
    { ms: 59_999, error: 'x' },
    { ms: 60_000, error: 'x' },
    { ms: 1, error: 'x' },
  ]);
  assert.deepEqual(waits, [500, 1_000, 500, 1_000]);
});
