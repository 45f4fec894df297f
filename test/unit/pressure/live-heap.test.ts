import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveHeap } from '../../../src/pressure/live-heap.ts';

/** Far more than anything else in this process that comes and goes. */
const OBJECTS = 500_000;
const BYTES = OBJECTS * 16;

test('what is alive is known as soon as garbage has been collected: with what is held, and without it once it is not', async () => {
  const heap = new LiveHeap();
  await heap.collect();
  const before = heap.live;
  assert.ok(before > 0 && before < heap.limit, `${before} of ${heap.limit}`);
  let held: object[] = Array.from({ length: OBJECTS }, (_, index) => ({ index }));
  await heap.collect();
  const full = heap.live;
  assert.ok(full - before > BYTES, `expected ${held.length} objects more than ${before}, got ${full}`);
  held = [];
  await heap.collect();
  assert.ok(full - heap.live > BYTES, `expected the objects to be gone, got ${heap.live} after ${full}`);
});

test('garbage does not count as alive', async () => {
  const heap = new LiveHeap();
  await heap.collect();
  const { live } = heap;
  for (let round = 0; round < 20; round += 1) {
    Array.from({ length: OBJECTS / 20 }, (_, index) => ({ index }));
  }
  await heap.collect();
  assert.ok(heap.live - live < BYTES, `expected about ${live}, got ${heap.live}`);
});
