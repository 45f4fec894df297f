import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPositionText, writePositionText } from '../../../../src/ingest/kafka/position-text.ts';
import { StartPositions } from '../../../../src/ingest/kafka/start-positions.ts';

/** As the version before reads it, which knows no fields: a text that does not match tells it nothing. */
const BEFORE = /^sluice1 (?<id>\S+) (?<settled>\d+)$/;

test('the text of a position is read as it was written, with an id of the bus or without', () => {
  for (const topicId of ['A', undefined]) {
    for (const bus of ['a.b-c_1', undefined]) {
      const text = { topicId, settled: 3, bus };
      assert.deepEqual(readPositionText(writePositionText(text)), text);
    }
  }
  assert.equal(writePositionText({ topicId: 'A', settled: 3, bus: 'b' }), 'sluice1 A 3 bus=b');
});

test('fields of a later version beside that of the bus are passed over, and other texts tell nothing', () => {
  const text = readPositionText('sluice1 A 3 epoch=7 bus=b more=x');
  assert.deepEqual(text, { topicId: 'A', settled: 3, bus: 'b' });
  for (const other of [null, '', 'sluice1 A', 'sluice1 A 3 bus', 'sluice2 A 3', 'sluice1 A 3  bus=b'])
    assert.equal(readPositionText(other), undefined);
});

test('a pod of the version before takes a text with a bus for none, and not for that of a topic made anew', () => {
  const named = writePositionText({ topicId: 'A', settled: 2, bus: 'b' });
  assert.equal(BEFORE.exec(named), null);
  const groups = BEFORE.exec(writePositionText({ topicId: 'A', settled: 2, bus: undefined }))?.groups;
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
