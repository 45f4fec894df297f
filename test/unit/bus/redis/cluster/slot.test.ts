import assert from 'node:assert/strict';
import test from 'node:test';
import { slotOf } from '../../../../../src/bus/redis/cluster/slot.ts';

test('a word has the slot that Redis gives it', () => {
  // By CLUSTER KEYSLOT.
  const slots = { '': 0, '123456789': 12_739, foo: 12_182, bids: 14_426, ünï: 9_441, '@revocations': 13_473 };
  for (const [word, slot] of Object.entries(slots)) assert.equal(slotOf(word), slot, word);
});
