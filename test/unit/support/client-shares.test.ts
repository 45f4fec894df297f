import assert from 'node:assert/strict';
import test from 'node:test';
import { ClientShares } from '../../../src/support/client-shares.ts';

/** Something of which there is a most. */
function shared(most: number) {
  const shares = new ClientShares();
  let taken = 0;
  /** Has a client take one after the other until it may not. @returns how many it has got */
  const takeAll = (client: string | undefined): number => {
    let got = 0;
    for (; shares.roomOf(client, most - taken) > 0; got += 1) count(client, 1);
    return got;
  };
  const count = (client: string | undefined, change: number): void => {
    taken += change;
    shares.count(client, change);
  };
  return { shares, takeAll, count, free: () => most - taken };
}

test('a client that wants all gets three quarters, the next one three quarters of the rest, and so on', () => {
  const { takeAll, free } = shared(1_000);
  assert.equal(takeAll('first'), 750);
  assert.equal(takeAll('second'), 188);
  assert.equal(takeAll('first'), 0);
  assert.equal(free(), 62);
});

test('while others want little, a client of many connections gets what it asks for', () => {
  const { shares, count, free } = shared(1_000);
  for (let other = 0; other < 250; other += 1) count(`${other}`, 1);
  count('office', 500);
  assert.equal(shares.roomOf('office', free()), 63);
});

test('what is left goes to those that have nothing, down to the last one, and what is given back counts no more', () => {
  const { takeAll, count, free } = shared(10);
  const got = ['a', 'b', 'c', 'd', 'e'].map(takeAll);
  assert.deepEqual(got, [8, 2, 0, 0, 0]);
  count('a', -1);
  assert.deepEqual([takeAll('a'), takeAll('c'), free()], [0, 1, 0]);
});

test('a client whose viewer and address are not known may have all', () => {
  const { takeAll, shares } = shared(10);
  assert.equal(takeAll(undefined), 10);
  assert.equal(shares.roomOf('a', Infinity), Infinity);
});
