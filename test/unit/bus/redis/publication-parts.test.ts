import assert from 'node:assert/strict';
import test from 'node:test';
import { partsOf } from '../../../../src/bus/redis/publication-parts.ts';
import type { Publication } from '../../../../src/events/publisher.ts';

/** Events of some bytes, each on so many channels. */
const events = (...channels: readonly number[]): Publication[] =>
  channels.flatMap((count, event) =>
    Array.from({ length: count }, (_, n) => ({ channel: `c${n}`, payload: `${event}${'x'.repeat(999)}` })),
  );

const partsIn = (batch: readonly Publication[], wholeEvents: boolean) => {
  const parts = [...partsOf(batch, 10_000, wholeEvents)];
  assert.deepEqual(
    parts.flatMap(({ publications }) => publications),
    batch,
  );
  return parts.map(({ publications, bytes }) => ({ count: publications.length, bytes }));
};

test('a batch that fits is one part, and is not copied', () => {
  const batch = events(1, 2);
  const [part] = partsOf(batch, 10_000, false);
  assert.equal(part?.publications, batch);
  assert.equal(part.bytes, 3 * (1_000 + 2 + 64));
  assert.deepEqual([...partsOf([], 10_000, false)], []);
});

test('a part has no more bytes than the bound, the copies of one event counted', () => {
  for (const batch of [events(25), events(3, 4, 5, 6, 7), events(...Array.from({ length: 25 }, () => 1))]) {
    const parts = partsIn(batch, false);
    assert.ok(parts.length > 2);
    for (const { bytes } of parts) assert.ok(bytes <= 10_000, `${bytes}`);
  }
});

test('bytes are those of UTF-8, and not characters', () => {
  const batch = ['a', 'b', 'c', 'd'].map((channel) => ({ channel, payload: 'ж'.repeat(2_400) }));
  assert.deepEqual(
    partsIn(batch, false).map(({ count }) => count),
    [2, 2],
  );
});

test('where events stay whole, a part ends with one, though it is larger than the bound', () => {
  assert.deepEqual(
    partsIn(events(3, 25, 4, 4), true).map(({ count }) => count),
    [3, 25, 8],
  );
});
