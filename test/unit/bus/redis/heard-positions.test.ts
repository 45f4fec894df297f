import assert from 'node:assert/strict';
import test from 'node:test';
import { HeardPositions, readPositions, writePositions } from '../../../../src/bus/redis/heard-positions.ts';
import type { ConsumedTopic } from '../../../../src/events/consumption.ts';

const TOPIC: ConsumedTopic = {
  topic: 'bids',
  count: 2,
  partitions: [
    { partition: 0, log: 'id/0', next: 17, leaderEpoch: 3, until: 19 },
    { partition: 1, log: 'id/0', next: 0, leaderEpoch: undefined, until: 0 },
  ],
};

test('what is written is read', () => {
  assert.equal(writePositions([TOPIC]), '[["bids",2,[[0,17,19,"id/0",3],[1,0,0,"id/0",null]]]]');
  assert.deepEqual(readPositions(writePositions([TOPIC])), [TOPIC]);
});

test('what another version may write is nothing', () => {
  for (const text of ['', 'no JSON', 'null', '7', '{}', '[null]', '["bids"]', '[["bids",1]]'])
    assert.deepEqual(readPositions(text), [], text);
});

test('a topic is known once each of its partitions is', () => {
  const positions = new HeardPositions();
  const [first, second] = TOPIC.partitions;
  positions.note([{ ...TOPIC, partitions: first === undefined ? [] : [first] }]);
  assert.equal(positions.whole('bids'), undefined);
  positions.note([{ ...TOPIC, partitions: second === undefined ? [] : [second] }]);
  assert.deepEqual([...(positions.whole('bids')?.partitions.values() ?? [])], TOPIC.partitions);
  positions.note([{ ...TOPIC, count: 3, partitions: [] }]);
  assert.equal(positions.whole('bids'), undefined);
});

test('a copy stays as it is', () => {
  const positions = new HeardPositions();
  positions.note([TOPIC]);
  const copy = new HeardPositions(positions);
  positions.note([{ ...TOPIC, partitions: TOPIC.partitions.map((one) => ({ ...one, next: 99 })) }]);
  assert.deepEqual([...(copy.whole('bids')?.partitions.values() ?? [])], TOPIC.partitions);
});
