import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartPositions, type CommittedPosition } from '../../../../src/ingest/kafka/start-positions.ts';

const topic = 'bids';

/** Positions by partition, with what was committed with them; undefined: none. */
function positionsOf(...metadata: (string | null | undefined)[]): CommittedPosition[] {
  return metadata.map((text, partition) => ({
    partition,
    offset: text === undefined ? undefined : 7,
    metadata: text ?? null,
  }));
}

function decided(
  positions: readonly CommittedPosition[],
  topicId: string | undefined,
  starts = new StartPositions(),
) {
  const { start, metadata } = starts.decide({ topic, topicId, positions });
  return { starts: positions.map(({ partition }) => start(partition)), metadata };
}

const none = undefined;

test('a group that is new on a topic starts at its end, and all partitions are settled', () => {
  assert.deepEqual(decided(positionsOf(none, none), 'A'), {
    starts: ['end', 'end'],
    metadata: 'sluice1 A 2',
  });
});

test('a partition that a group has not come to, of those that existed when it began, starts at the end', () => {
  assert.deepEqual(decided(positionsOf('sluice1 A 3', none, none), 'A'), {
    starts: ['position', 'end', 'end'],
    metadata: 'sluice1 A 3',
  });
});

test('a partition that is added starts at the beginning, and is settled once those before it have positions', () => {
  const added = positionsOf('sluice1 A 2', 'sluice1 A 2', none, none);
  assert.deepEqual(decided(added, 'A'), {
    starts: ['position', 'position', 'beginning', 'beginning'],
    metadata: 'sluice1 A 2',
  });
  // The last one's member has committed, the other's has not.
  assert.deepEqual(decided(positionsOf('sluice1 A 2', 'sluice1 A 2', none, 'sluice1 A 2'), 'A'), {
    starts: ['position', 'position', 'beginning', 'position'],
    metadata: 'sluice1 A 2',
  });
  const all = positionsOf('sluice1 A 2', 'sluice1 A 2', 'sluice1 A 2', 'sluice1 A 2', none);
  assert.deepEqual(decided(all, 'A'), {
    starts: ['position', 'position', 'position', 'position', 'beginning'],
    metadata: 'sluice1 A 4',
  });
});

test('beside positions of former versions, which say nothing, a partition without one is new', () => {
  assert.deepEqual(decided(positionsOf(null, '', none), 'A'), {
    starts: ['position', 'position', 'beginning'],
    metadata: 'sluice1 A 2',
  });
});

test('positions of a topic that had the same name do not hold: the one made anew starts at its beginning', () => {
  assert.deepEqual(decided(positionsOf('sluice1 B 3', 'sluice1 B 3', none), 'A'), {
    starts: ['beginning', 'beginning', 'beginning'],
    metadata: 'sluice1 A 0',
  });
  assert.deepEqual(decided(positionsOf('sluice1 A 0', 'sluice1 B 3', none), 'A'), {
    starts: ['position', 'beginning', 'beginning'],
    metadata: 'sluice1 A 1',
  });
});

test('a topic that this process has known under another id starts at its beginning, though positions are gone', () => {
  const starts = new StartPositions();
  decided(positionsOf(none), 'A', starts);
  assert.equal(starts.topicId(topic), 'A');
  assert.deepEqual(decided(positionsOf(none, none), 'B', starts), {
    starts: ['beginning', 'beginning'],
    metadata: 'sluice1 B 0',
  });
  assert.equal(starts.topicId(topic), 'B');
});

test('another process that takes a topic made anew for new does not make its partitions start at the end', () => {
  const starts = new StartPositions();
  decided(positionsOf(none), 'A', starts);
  assert.deepEqual(decided(positionsOf('sluice1 B 2', none), 'B', starts).starts, ['position', 'beginning']);
});

test('without ids, of brokers before 2.8, new partitions are found all the same', () => {
  const { starts, metadata } = decided(positionsOf(none, none), undefined);
  assert.deepEqual([starts, metadata], [['end', 'end'], 'sluice1 - 2']);
  assert.deepEqual(decided(positionsOf(metadata, metadata, none), undefined).starts, [
    'position',
    'position',
    'beginning',
  ]);
  // The brokers are upgraded.
  assert.deepEqual(decided(positionsOf(metadata, metadata), 'A').starts, ['position', 'position']);
});
