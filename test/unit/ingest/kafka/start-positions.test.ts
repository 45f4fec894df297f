import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartPositions } from '../../../../src/ingest/kafka/start-positions.ts';

/** What was committed with the position of a partition; undefined: it has none. */
type Committed = string | null | undefined;

const none = undefined;

/** Where the partitions start, and what is committed with their positions from then on. */
function decided(
  committed: readonly Committed[],
  topicId: string | undefined,
  starts = new StartPositions(),
) {
  const positions = committed.map((text, partition) => {
    return { partition, offset: text === undefined ? undefined : 7, metadata: text ?? null };
  });
  const { start, metadata } = starts.decide({ topic: 'bids', topicId, positions });
  return `${positions.map(({ partition }) => start(partition)).join(' ')}; ${metadata({ resets: 0, leaderEpoch: undefined })}`;
}

for (const [what, committed, expected] of [
  [
    'a group that is new on a topic starts at its end, and all partitions are settled',
    [none, none],
    'end end; sluice1 A 2',
  ],
  [
    'a partition that a group has not come to, of those that existed when it began, starts at the end',
    ['sluice1 A 3', none, none],
    'position end end; sluice1 A 3',
  ],
  [
    'a partition that is added starts at the beginning',
    ['sluice1 A 2', 'sluice1 A 2', none, none],
    'position position beginning beginning; sluice1 A 2',
  ],
  [
    'it does so while its member has not committed, though that of one behind it has',
    ['sluice1 A 2', 'sluice1 A 2', none, 'sluice1 A 2'],
    'position position beginning position; sluice1 A 2',
  ],
  [
    'an added partition is settled once it and those before it have positions',
    ['sluice1 A 2', 'sluice1 A 2', 'sluice1 A 2', 'sluice1 A 2', none],
    'position position position position beginning; sluice1 A 4',
  ],
  [
    'beside positions of former versions, which say nothing, a partition without one is new',
    [null, '', none],
    'position position beginning; sluice1 A 2',
  ],
  [
    'positions of a topic that had the same name do not hold: the one made anew starts at its beginning',
    ['sluice1 B 3', 'sluice1 B 3', none],
    'beginning beginning beginning; sluice1 A 0',
  ],
  [
    'nor do those that are left of it hold beside new ones',
    ['sluice1 A 0', 'sluice1 B 3', none],
    'position beginning beginning; sluice1 A 1',
  ],
] satisfies [what: string, committed: Committed[], decided: string][]) {
  test(what, () => assert.equal(decided(committed, 'A'), expected));
}

test('a topic that this process has known under another id starts at its beginning, though positions are gone', () => {
  const starts = new StartPositions();
  decided([none], 'A', starts);
  assert.equal(starts.topicId('bids'), 'A');
  assert.equal(decided([none, none], 'B', starts), 'beginning beginning; sluice1 B 0');
  assert.equal(starts.topicId('bids'), 'B');
});

test('another process that takes a topic made anew for new does not make its partitions start at the end', () => {
  const starts = new StartPositions();
  decided([none], 'A', starts);
  assert.match(decided(['sluice1 B 2', none], 'B', starts), /^position beginning;/);
});

test('without ids, of brokers before 2.8, new partitions are found all the same', () => {
  assert.equal(decided([none, none], undefined), 'end end; sluice1 - 2');
  assert.match(decided(['sluice1 - 2', 'sluice1 - 2', none], undefined), /^position position beginning;/);
  // The brokers are upgraded.
  assert.match(decided(['sluice1 - 2', 'sluice1 - 2'], 'A'), /^position position;/);
});

test('a topic without positions that a pattern matches is new if the group has begun with the pattern', () => {
  const positions = [{ partition: 0, offset: undefined, metadata: null }];
  const startOf = (
    isBegun: boolean,
    of = positions as Parameters<StartPositions['decide']>[0]['positions'],
  ) =>
    new StartPositions()
      .decide({ topic: 'bids', topicId: 'A', positions: of, matched: { patterns: 'x', isBegun } })
      .start(0);
  assert.deepEqual([startOf(false), startOf(true)], ['end', 'beginning']);
  // A partition that the group had not come to, of a topic that it knows.
  const known = [...positions, { partition: 1, offset: 7, metadata: 'sluice1 A 2 patterns=x' }];
  assert.equal(startOf(true, known), 'end');
});
