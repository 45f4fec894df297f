import assert from 'node:assert/strict';
import test from 'node:test';
import { RecentEvents, type KeptEvent } from '../../../src/explain/recent-events.ts';
import { HeldTime } from './held-time.ts';

const event = (offset: number, at: number, bytes = 1, partition = 0): KeptEvent => ({
  partition,
  offset,
  at,
  bytes,
});

const offsetsOf = (events: Iterable<KeptEvent>): number[] => [...events].map(({ offset }) => offset);

function setUp(maxBytes = 1_000_000) {
  const time = new HeldTime();
  const recent = new RecentEvents<KeptEvent>(maxBytes, time.now);
  const add = (topic: string, ...offsets: readonly number[]): void => {
    for (const offset of offsets) recent.for(topic).add(event(offset, time.now(), 100));
  };
  return { time, recent, add };
}

test('the last 64 events of each topic are kept, and it is known since when none is missing', () => {
  const { time, recent } = setUp();
  const begun = time.now();
  const bids = recent.for('bids');
  for (let offset = 0; offset < 64; offset += 1) {
    bids.add(event(offset, time.now()));
    time.advance(1_000);
  }
  assert.deepEqual([bids.size, bids.since], [64, begun]);
  bids.add(event(64, time.now()));
  assert.deepEqual([bids.size, bids.since], [64, begun]);
  bids.add(event(65, time.now()));
  assert.deepEqual([bids.size, bids.since], [64, begun + 1_000]);
  const kept = offsetsOf(bids);
  assert.deepEqual([kept[0], kept.at(-1)], [65, 2]);
});

test('an event is found by its partition and offset as long as it is kept', () => {
  const bids = setUp().recent.for('bids');
  // Of two partitions that take turns, and not in the order of offsets.
  const places = Array.from({ length: 80 }, (_, index) => [index % 2, (index * 7) % 80] as const);
  for (const [partition, offset] of places) bids.add(event(offset, 0, 1, partition));
  for (const [index, [partition, offset]] of places.entries()) {
    const found = bids.find(partition, offset);
    assert.equal(found !== undefined, index >= 16, `${partition}/${offset}`);
    if (found !== undefined) assert.deepEqual([found.partition, found.offset], [partition, offset]);
    assert.equal(bids.find(2, offset), undefined);
  }
});

test('topics share the bytes out, and the first events of a topic that has more give way', () => {
  const { recent, add } = setUp(1_000);
  add('bids', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  assert.deepEqual(offsetsOf(recent.of('bids')), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  add('sales', 1);
  assert.deepEqual(offsetsOf(recent.of('bids')), [11, 10, 9, 8, 7]);
  assert.equal(recent.of('sales').room, 500);
  const [last] = recent.of('bids');
  assert.ok(last);
  recent.for('bids').resize(last, 300);
  assert.deepEqual(offsetsOf(recent.of('bids')), [11, 10, 9]);
});

test('a topic without an event has none to tell of, and takes no room', () => {
  const { time, recent, add } = setUp(1_000);
  const begun = time.now();
  time.advance(5_000);
  assert.deepEqual([recent.of('sales').size, recent.of('sales').since], [0, begun]);
  add('bids', 1);
  assert.equal(recent.of('bids').room, 1_000);
});

test('of more than 4,096 topics the one that was met first gives way', () => {
  const { time, recent, add } = setUp();
  const begun = time.now();
  for (let topic = 0; topic < 4_096; topic += 1) add(`t${topic}`, 1);
  time.advance(5_000);
  assert.equal(recent.of('t0').size, 1);
  add('another', 1);
  assert.deepEqual([recent.of('t0').size, recent.of('t1').size, recent.of('another').size], [0, 1, 1]);
  assert.deepEqual([recent.of('t0').since, recent.of('t1').since], [begun + 5_000, begun]);
});
