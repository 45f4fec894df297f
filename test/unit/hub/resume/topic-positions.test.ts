import assert from 'node:assert/strict';
import test from 'node:test';
import { BRANCH_SEQUENCES, type HistoryPosition, type HistoryRead } from '../../../../src/bus/history.ts';
import { TopicPositions } from '../../../../src/hub/resume/topic-positions.ts';
import { range } from '../../../helpers/numbers.ts';

const EPOCH = 'abc';

const at = (branch: number, sequence: number, epoch = EPOCH): HistoryPosition => ({
  epoch,
  sequence: branch * BRANCH_SEQUENCES + sequence,
});

/** @param endOf the last sequence that is kept of a branch; undefined: of the present one */
function setUp(endOf: (branch: number) => number | undefined) {
  const asked: number[] = [];
  const positions = new TopicPositions({
    position: () => undefined,
    readHistory: async (_topic, _channels, since): Promise<HistoryRead> => {
      const branch = Math.floor(since / BRANCH_SEQUENCES);
      asked.push(branch);
      return { position: at(0, 0), branchEnd: endOf(branch), size: 1, isCut: false, channels: [] };
    },
  });
  return {
    asked,
    isLost: (position: HistoryPosition, heard: HistoryPosition) => positions.isLost('bids', position, heard),
  };
}

test('positions of a branch that was left are lost behind its end, for which the bus is asked once, and anew for each next branch', async () => {
  const { asked, isLost } = setUp((branch) => (branch === 0 ? 5 : branch * BRANCH_SEQUENCES + 2));
  const heard = at(7, 3);
  const cursors = [at(7, 1), at(0, 5), at(0, 6), at(3, 2), at(3, 3)];
  const lost = await Promise.all(cursors.map((cursor) => isLost(cursor, heard)));
  assert.deepEqual(lost, [false, false, true, false, true]);
  assert.deepEqual(asked, [0, 3]);
  await isLost(at(0, 5), at(9, 1));
  await isLost(at(0, 5, 'def'), at(9, 1, 'def'));
  assert.deepEqual(asked, [0, 3, 0, 0]);
});

test('where the bus knows no end of the branch it is asked again, and so it is where it can not be asked', async () => {
  let reads = 0;
  const { isLost, asked } = setUp(() => {
    reads += 1;
    if (reads === 1) throw new Error('no history');
    return reads === 2 ? undefined : 5;
  });
  await assert.rejects(isLost(at(0, 6), at(1, 1)), /no history/);
  assert.equal(await isLost(at(0, 6), at(1, 1)), false);
  assert.equal(await isLost(at(0, 6), at(1, 1)), true);
  assert.equal(asked.length, 3);
});

test('no more than 128 ends are remembered, however many branches clients make up', async () => {
  const { asked, isLost } = setUp(() => 0);
  const heard = at(1_000, 1);
  for (const branch of range(0, 128)) await isLost(at(branch, 1), heard);
  await isLost(at(0, 1), heard);
  assert.equal(asked.length, 128);
  await isLost(at(128, 1), heard);
  await isLost(at(0, 1), heard);
  assert.equal(asked.length, 130);
});
