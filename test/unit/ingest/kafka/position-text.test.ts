import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPositionText, writePositionText } from '../../../../src/ingest/kafka/position-text.ts';
import { resetsAfter, StartPositions } from '../../../../src/ingest/kafka/start-positions.ts';

/** What the version before, which knows no fields, reads: a text that does not match tells it nothing. */
const NOTHING_KNOWN = { resets: 0, leaderEpoch: undefined };

const BEFORE = /^sluice1 (?<id>\S+) (?<settled>\d+)$/;

test('the text of a position is read as it was written, with each of its fields or without', () => {
  for (const topicId of ['A', undefined]) {
    for (const bus of ['a.b-c_1', undefined]) {
      for (const resets of [0, 3]) {
        for (const leaderEpoch of [undefined, 0, 7]) {
          const text = { topicId, settled: 3, bus, resets, leaderEpoch };
          assert.deepEqual(readPositionText(writePositionText(text)), text);
        }
      }
    }
  }
  const text = { topicId: 'A', settled: 3, bus: 'b', ...NOTHING_KNOWN };
  const matched = { ...text, patterns: 'x_-1,y' };
  assert.deepEqual(readPositionText(writePositionText(matched)), matched);
  assert.equal(writePositionText(text), 'sluice1 A 3 bus=b');
  assert.equal(
    writePositionText({ ...text, resets: 2, leaderEpoch: 5 }),
    'sluice1 A 3 bus=b resets=2 epoch=5',
  );
});

test('fields of a later version beside those that are known are passed over, and other texts tell nothing', () => {
  const text = readPositionText('sluice1 A 3 later=7 bus=b resets=4 epoch=5 more=x');
  assert.deepEqual(text, { topicId: 'A', settled: 3, bus: 'b', resets: 4, leaderEpoch: 5 });
  for (const other of [null, '', 'sluice1 A', 'sluice1 A 3 bus', 'sluice2 A 3', 'sluice1 A 3  bus=b'])
    assert.equal(readPositionText(other), undefined);
});

test('a pod of the version before takes a text with a bus for none, and not for that of a topic made anew', () => {
  const named = writePositionText({ topicId: 'A', settled: 2, bus: 'b', ...NOTHING_KNOWN });
  assert.equal(BEFORE.exec(named), null);
  const groups = BEFORE.exec(
    writePositionText({ topicId: 'A', settled: 2, bus: undefined, ...NOTHING_KNOWN }),
  )?.groups;
  assert.deepEqual({ ...groups }, { id: 'A', settled: '2' });
  // After a roll-back it goes on at each position, and so does this version on those that it has committed meanwhile.
  const texts = [named, 'sluice1 A 2', null];
  const positions = texts.map((metadata, partition) => ({ partition, offset: 7, metadata }));
  const { start, isUnnamed } = new StartPositions().decide({
    topic: 'bids',
    topicId: 'A',
    positions,
    bus: 'b',
  });
  const partitions = [0, 1, 2];
  assert.deepEqual(partitions.map(start), ['position', 'position', 'position']);
  assert.deepEqual(partitions.map(isUnnamed), [false, true, true]);
});

test('a pod that takes a partition over knows how often its position was reset, of this topic, and as far as a number is committed', () => {
  const texts = [
    'sluice1 A 4 resets=2 epoch=7',
    'sluice1 A 4',
    'sluice1 B 4 resets=2',
    'sluice1 A 4 resets=99999999',
  ];
  const positions = texts.map((metadata, partition) => ({ partition, offset: 7, metadata }));
  const { log, metadata } = new StartPositions().decide({ topic: 'bids', topicId: 'A', positions });
  const resets = (partition: number) => log(partition).resets;
  assert.deepEqual([0, 1, 2, 3].map(resets), [2, 0, 0, 0]);
  assert.deepEqual(
    [0, 1, 2, 3].map((partition) => log(partition).leaderEpoch),
    [7, undefined, undefined, undefined],
  );
  const textOf = (count: number) => metadata({ resets: count, leaderEpoch: undefined });
  assert.equal(textOf(resetsAfter(resets(0), 'end')), 'sluice1 A 4 resets=3');
  assert.equal(textOf(resetsAfter(resets(1), 'divergence')), 'sluice1 A 4 resets=1');
  assert.equal(textOf(resetsAfter(resets(0), 'beginning')), 'sluice1 A 4 resets=2');
  const before = BEFORE.exec(textOf(1));
  assert.equal(before, null, 'it says nothing to a pod of the version before');
});
