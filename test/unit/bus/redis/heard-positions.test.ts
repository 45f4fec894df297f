import assert from 'node:assert/strict';
import test from 'node:test';
import { HeardPositions, readPositions, writePositions } from '../../../../src/bus/redis/heard-positions.ts';
import type { ConsumedPartition, ConsumedTopic } from '../../../../src/events/consumption.ts';

const HELD = { assignedAt: 7, log: 'id/0' };
const FIRST = {
  ...HELD,
  partition: 0,
  start: 4,
  next: 17,
  leaderEpoch: 3,
  until: 19,
  lastEpoch: 5,
  lastFrom: 18,
};
const NOTHING_READ = {
  start: 0,
  next: 0,
  leaderEpoch: undefined,
  until: 0,
  lastEpoch: undefined,
  lastFrom: undefined,
};
const SECOND = { ...HELD, ...NOTHING_READ, partition: 1 };
const TOPIC: ConsumedTopic = { topic: 'bids', count: 2, partitions: [FIRST, SECOND] };
const NOW = 1_000;

const of = (...partitions: ConsumedPartition[]): ConsumedTopic[] => [{ ...TOPIC, partitions }];

/** Offsets up to which the topic has been heard; undefined: it is not known. */
const nextOf = (positions: HeardPositions, now = NOW): readonly number[] | undefined => {
  const { partitions } = positions.whole('bids', now) ?? {};
  return partitions && [...partitions.values()].map(({ next }) => next);
};

test('what is written is read', () => {
  assert.equal(
    writePositions([TOPIC]),
    '[["bids",2,[[0,17,19,"id/0",3,5,7,4,18],[1,0,0,"id/0",null,null,7,0,null]]]]',
  );
  assert.deepEqual(readPositions(writePositions([TOPIC])), [TOPIC]);
});

test('a pod of the version before does not say where a leader epoch begins', () => {
  const [topic] = readPositions('[["bids",2,[[1,0,0,"id/0",null,null,7,0]]]]');
  assert.deepEqual(topic?.partitions, [SECOND]);
});

test('what another version may write is nothing', () => {
  for (const text of ['', 'no JSON', 'null', '7', '{}', '[null]', '["bids"]', '[["bids",1]]'])
    assert.deepEqual(readPositions(text), [], text);
});

test('a topic is known once each of its partitions is', () => {
  const positions = new HeardPositions();
  positions.note(of(FIRST), NOW);
  assert.equal(nextOf(positions), undefined);
  positions.note(of(SECOND), NOW);
  assert.deepEqual(nextOf(positions), [17, 0]);
  positions.note([{ ...TOPIC, count: 3, partitions: [] }], NOW);
  assert.equal(nextOf(positions), undefined);
});

test('a copy stays as it is', () => {
  const positions = new HeardPositions();
  positions.note(of(FIRST, SECOND), NOW);
  const copy = new HeardPositions(positions);
  positions.note(of({ ...FIRST, next: 99 }), NOW);
  assert.deepEqual(
    [nextOf(copy), nextOf(positions)],
    [
      [17, 0],
      [99, 0],
    ],
  );
});

for (const [what, moved, isKnown] of [
  ['where all was heard of its former publisher', { start: 17 }, true],
  ['where some was not, which may have gone to another server', { start: 18 }, false],
  ['with another log', { start: 0, log: 'id/1' }, false],
] as const) {
  test(`a partition that has moved ${what} is ${isKnown ? 'known' : 'not known for a minute'}`, () => {
    const positions = new HeardPositions();
    positions.note(of(FIRST, SECOND), NOW);
    positions.note(of({ ...FIRST, assignedAt: 8, next: 20, ...moved }), NOW);
    positions.note(of({ ...FIRST, assignedAt: 8, next: 21, ...moved }), NOW + 1_000);
    assert.deepEqual(nextOf(positions, NOW + 59_999), isKnown ? [21, 0] : undefined);
    assert.deepEqual(nextOf(positions, NOW + 60_000), [21, 0]);
  });
}

test('what was heard before a doubt counts once its publisher says it again, and not where another one goes on further behind', () => {
  const positions = new HeardPositions();
  positions.note(of(FIRST, SECOND), NOW);
  positions.doubt();
  assert.equal(nextOf(positions), undefined);
  positions.note(of(FIRST, { ...SECOND, assignedAt: 8, start: 1, next: 1 }), NOW);
  assert.equal(nextOf(positions), undefined, 'the former publisher may have published to another server');
  positions.doubt();
  positions.note(of(FIRST, { ...SECOND, assignedAt: 8, start: 1, next: 1 }), NOW);
  assert.deepEqual(nextOf(positions), [17, 1]);
});
