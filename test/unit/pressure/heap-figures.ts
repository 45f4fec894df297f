import { range } from '../../helpers/numbers.ts';
import { LiveHeap } from '../../../src/pressure/live-heap.ts';

/** Far more than anything else in a process that only measures. */
const OBJECTS = 500_000;

/** Prints, as JSON, what is alive: at first, beside garbage, with objects, and without them again. */
const heap = new LiveHeap();
const live = async (): Promise<number> => {
  await heap.collect();
  return heap.live;
};
const before = await live();
for (let round = 0; round < 20; round += 1) range(0, OBJECTS / 20).map((index) => ({ index }));
const besideGarbage = await live();
let held: object[] = range(0, OBJECTS).map((index) => ({ index }));
const full = await live();
held = [];
const after = await live();
process.stdout.write(
  JSON.stringify({
    limit: heap.limit,
    before,
    besideGarbage,
    full,
    after,
    bytes: OBJECTS * 16,
    held: held.length,
  }),
);
