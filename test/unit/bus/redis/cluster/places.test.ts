import assert from 'node:assert/strict';
import test from 'node:test';
import { Places } from '../../../../../src/bus/redis/cluster/places.ts';
import { slotOf } from '../../../../../src/bus/redis/cluster/slot.ts';
import { upTo } from '../../../../helpers/numbers.ts';

const places = new Places('sluice:', new Set(['orders']));

test('all channels of a topic are in its slot, unless it is spread', () => {
  assert.deepEqual(places.wordsOf('prices'), ['prices']);
  assert.deepEqual(places.of('prices', 'sluice:prices:id=7'), {
    topic: 'prices',
    word: 'prices',
    channel: 'sluice:{prices}:id=7',
  });
  assert.equal(places.of('prices', 'sluice:prices').channel, 'sluice:{prices}');
});

test('places of a topic that is spread are the same at every pod and in every version', () => {
  assert.equal(places.of('orders', 'sluice:orders').channel, 'sluice:{orders/5.128}');
  assert.equal(places.of('orders', 'sluice:orders:id=7').channel, 'sluice:{orders/2.33}:id=7');
});

for (const masters of [1, 2, 3, 4, 6, 12]) {
  test(`${masters} masters of as many slots each have as many places of a topic each`, () => {
    const counts = upTo(masters).map(() => 0);
    for (const word of places.wordsOf('orders')) {
      const master = Math.floor((slotOf(word) * masters) / 16_384);
      counts[master] = (counts[master] ?? 0) + 1;
    }
    assert.deepEqual(
      counts,
      upTo(masters).map(() => 12 / masters),
    );
  });
}

test('channels are in all places, in each within 15 % of as many', () => {
  const counts = new Map<string, number>();
  for (const id of upTo(12_000)) {
    const { word } = places.of('orders', `sluice:orders:id=${id}`);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  assert.equal(counts.size, 12);
  for (const count of counts.values()) assert.ok(count > 850 && count < 1_150, String([...counts.values()]));
});
