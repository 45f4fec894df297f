import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { LoopDelay } from '../../../src/pressure/loop-delay.ts';

/** Samples of which the shortest counts. */
const SAMPLES = 8;

/** Longer than the interval at which delays are measured. */
const STALL_MS = 60;

/** Keeps the event loop busy, and then lets it come to its timers. */
async function stall(): Promise<void> {
  const until = performance.now() + STALL_MS;
  while (performance.now() < until);
  await sleep(1);
}

test('a loop that has one long turn for each of eight samples is late, and a sample without delay is enough against it', async (t) => {
  const loop = new LoopDelay();
  loop.start();
  t.after(() => loop.stop());
  const samples: number[] = [];
  while (samples.length < SAMPLES) {
    await stall();
    samples.push(loop.sample());
  }
  const last = samples.pop() ?? 0;
  assert.deepEqual(new Set(samples), new Set([0]));
  assert.ok(last > 0, `${last}`);
  // One right after the other, unless the system takes the processor away between them.
  const calm = Array.from({ length: 100 }, () => loop.sample());
  assert.ok(calm.includes(0), calm.join(' '));
});
