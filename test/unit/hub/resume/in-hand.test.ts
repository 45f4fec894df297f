import assert from 'node:assert/strict';
import test from 'node:test';
import { UNITS } from '../../../../src/hub/work-budget.ts';
import { range, upTo } from '../../../helpers/numbers.ts';
import { filterOn, settled } from '../parts.ts';
import { world } from './world.ts';

/** Between subscribing and going over into the group. */
const TURNS = 16;

test('a client that goes over into its group while a message is being handed on gets that once, whether the group has it or not', async (t) => {
  // Each message is handed to one group in a turn.
  const filter = filterOn(undefined, () => true, { comparisons: UNITS.turn, scans: 0 });
  const { client, publish } = world(t, { binding: { filter } });
  const keys = ['a', ['a', 'b'], ['a', 'c'], ['a', 'd'], ['a', 'e'], ['a', 'f']] as const;
  const staying = keys.map((key) => client().connect(key));
  await settled();
  const returning = keys.map((key, index) => client({ index }).connect(key));
  await settled();
  let n = 0;
  const all = [...staying, ...returning];
  const haveAll = (): boolean => all.every(({ numbers }) => numbers.at(-1) === n);
  for (const turns of range(0, TURNS)) {
    for (const one of returning) one.disconnect();
    await publish([(n += 1), (n += 1)]);
    while (!staying.every(({ numbers }) => numbers.at(-1) === n)) await settled();
    for (const [index, one] of returning.entries()) one.connect(keys[index]);
    for (let turn = 0; turn < turns; turn += 1) await settled();
    await publish([(n += 1)]);
    while (!haveAll()) await settled();
  }
  for (const { numbers } of all) assert.deepEqual(numbers, upTo(n));
});
