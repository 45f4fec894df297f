import assert from 'node:assert/strict';
import test from 'node:test';
import { partitionState } from '../../../../src/ingest/kafka/state.ts';

const LOG = { topic: 'bids', partition: 2, topicId: undefined, resets: 0, partitions: 4, leaderEpoch: 3 };
const AT = { ...LOG, position: 5, highWatermark: 8 };
const NOW = 10_000;
const QUIET = { time: NOW - 2_000, now: NOW, stopped: undefined, held: undefined };

test('a partition is behind by the records that are yet to come, and by the age of the next', () => {
  const { lag, lagSeconds, state, reason } = partitionState(AT, QUIET);
  assert.deepEqual([lag, lagSeconds, state, reason], [3, 2, 'consuming', undefined]);
});

for (const [what, at, signs, lag] of [
  ['it has all', { position: 8 }, {}, [0, 0]],
  ['its end is not known yet', { highWatermark: undefined }, {}, [undefined, 2]],
  ['its position is beyond its end', { position: 9 }, {}, [0, 0]],
  ['no record was seen', {}, { time: undefined }, [3, undefined]],
  ['its next record is from the future', {}, { time: NOW + 1 }, [3, 0]],
] as const) {
  test(`what a partition is behind by where ${what}`, () => {
    const { lag: records, lagSeconds } = partitionState({ ...AT, ...at }, { ...QUIET, ...signs });
    assert.deepEqual([records, lagSeconds], lag);
  });
}

function stateOf(signs: object): readonly unknown[] {
  const { state, reason } = partitionState(AT, { ...QUIET, ...signs });
  return [state, reason];
}

test('a bad batch stops a partition, though it waits for something else, too', () => {
  const held = { topic: 'bids', partition: 2, reason: 'the bus is away' };
  assert.deepEqual(stateOf({ held }), ['held', 'the bus is away']);
  assert.deepEqual(stateOf({ held, stopped: 'bad batch' }), ['stopped', 'bad batch']);
});
