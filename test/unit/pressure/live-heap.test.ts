import assert from 'node:assert/strict';
import { test } from 'node:test';
import { range } from '../../helpers/numbers.ts';
import { LiveHeap } from '../../../src/pressure/live-heap.ts';

/** Far more than anything else in this process that comes and goes. */
const OBJECTS = 500_000;
const BYTES = OBJECTS * 16;

test('what is alive is known as soon as garbage has been collected: with what is held, and without it once it is not', async () => {
  const heap = new LiveHeap();
  const live = async (): Promise<number> => {
    await heap.collect();
    return heap.live;
  };
  const before = await live();
  assert.ok(before > 0 && before < heap.limit, `${before} of ${heap.limit}`);
  for (let round = 0; round < 20; round += 1) range(0, OBJECTS / 20).map((index) => ({ index }));
  const garbage = await live();
  assert.ok(garbage - before < BYTES, `expected about ${before} beside garbage, got ${garbage}`);
  let held: object[] = range(0, OBJECTS).map((index) => ({ index }));
  const full = await live();
  assert.ok(full - before > BYTES, `expected ${held.length} objects more than ${before}, got ${full}`);
  held = [];
  const after = await live();
  assert.ok(full - after > BYTES, `expected the objects to be gone, got ${after} after ${full}`);
});
