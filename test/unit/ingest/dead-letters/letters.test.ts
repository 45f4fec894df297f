import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Letter } from '../../../../src/ingest/dead-letters/letter.ts';
import { Letters } from '../../../../src/ingest/dead-letters/letters.ts';
import { record } from '../parts.ts';
import { letterRecord, reader } from './parts.ts';

const at = (partition: number, offset: number, timestamp: number) =>
  letterRecord({ partition, offset, timestamp });

async function all(letters: Letters, isMeant: (letter: Letter) => boolean = () => true): Promise<string[]> {
  const places: string[] = [];
  for await (const { record: read } of letters.matching(isMeant))
    places.push(`${read.partition}/${read.offset}`);
  return places;
}

test('letters of all partitions come by the time at which they were written', async () => {
  const letters = new Letters([
    reader(0, [at(0, 0, 10), at(0, 1, 30)], [at(0, 2, 50)]),
    reader(1, [at(1, 0, 20)], [at(1, 1, 40), at(1, 2, 60)]),
    reader(2),
  ]);
  assert.deepEqual(await all(letters), ['0/0', '1/0', '0/1', '1/1', '0/2', '1/2']);
});

test('letters of one partition stay in order even if their times do not', async () => {
  const letters = new Letters([reader(0, [at(0, 0, 90), at(0, 1, 5)]), reader(1, [at(1, 0, 50)])]);
  assert.deepEqual(await all(letters), ['1/0', '0/0', '0/1']);
});

test('positions are behind what has been read, whether it was meant or not', async () => {
  const letters = new Letters([reader(0, [at(0, 3, 1), at(0, 6, 2)]), reader(1)], new Map([[1, 40]]));
  assert.deepEqual(await all(letters, ({ record: { offset } }) => offset === 3), ['0/3']);
  assert.deepEqual(Object.fromEntries(letters.positions()), { 0: 7, 1: 40 });
  assert.equal(letters.read, 2);
});

test('a letter that is handed over has been read, the one behind it has not', async () => {
  const letters = new Letters([reader(0, [at(0, 0, 1), at(0, 1, 2)])]);
  const iterator = letters.matching(() => true);
  await iterator.next();
  assert.deepEqual(letters.positions(), new Map([[0, 1]]));
});

test('records that are no letters are counted, and passed over', async () => {
  const foreign = record('{}', { partition: 0, offset: 0 });
  const letters = new Letters([reader(0, [foreign, at(0, 1, 2)])]);
  assert.deepEqual(await all(letters), ['0/1']);
  assert.deepEqual([letters.read, letters.foreign], [1, 1]);
});

test('an error of a reader ends the letters', async () => {
  const failing = { partition: 1, next: () => Promise.reject(new Error('gone')) };
  await assert.rejects(all(new Letters([reader(0, [at(0, 0, 1)]), failing])), /gone/);
});
