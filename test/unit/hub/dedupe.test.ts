import assert from 'node:assert/strict';
import test from 'node:test';
import { ChannelOffsets, RecentPositions } from '../../../src/hub/dedupe.ts';

type Position = Parameters<ChannelOffsets['see']>[0];
type Rows<Verdict> = Readonly<Record<string, readonly (readonly [Position, Verdict])[]>>;

const [BEFORE, RESET, RESET_AGAIN] = [5, 1e10 + 5, 2e10 + 4];

const CHANNEL: Rows<'new' | 'seen' | 'restarted'> = {
  'an event whose offset does not go up has been seen before, counted for its own partition only': [
    [{ id: 'a', p: 0, o: 5 }, 'new'],
    [{ id: 'a', p: 0, o: 5 }, 'seen'],
    [{ id: 'a', p: 0, o: 4 }, 'seen'],
    [{ id: 'a', p: 1, o: 4 }, 'new'],
    [{ id: 'a', p: 0, o: 9 }, 'new'],
    [{ id: 'a', p: 0, o: 6 }, 'seen'],
  ],
  'another topic id means that the topic was made anew, and late events of the former topic are told from copies':
    [
      [{ id: 'a', p: 0, o: 1_000 }, 'new'],
      [{ id: 'b', p: 0, o: 1_000 }, 'restarted'],
      [{ id: 'b', p: 0, o: 1_001 }, 'new'],
      [{ id: 'a', p: 0, o: 1_000 }, 'seen'],
      [{ id: 'a', p: 0, o: 1_002 }, 'new'],
      [{ id: 'a', p: 0, o: 1_002 }, 'seen'],
      [{ id: 'b', p: 0, o: 1_001 }, 'seen'],
      [{ id: 'b', p: 0, o: 1_002 }, 'new'],
    ],
  'where the first event of a former topic comes behind the new one’s, the new one goes on': [
    [{ id: 'b', p: 0, o: 0 }, 'new'],
    [{ id: 'a', p: 0, o: 7 }, 'restarted'],
    [{ id: 'b', p: 0, o: 0 }, 'seen'],
    [{ id: 'b', p: 0, o: 1 }, 'new'],
  ],
  'an offset that is given again in a higher leader epoch is another event, and what comes late of a lower one is a copy':
    [
      [{ id: 'a', p: 0, o: 200, e: 5 }, 'new'],
      [{ id: 'a', p: 0, o: 100, e: 6 }, 'restarted'],
      [{ id: 'a', p: 0, o: 200, e: 5 }, 'seen'],
      [{ id: 'a', p: 0, o: 201, e: 5 }, 'seen'],
      [{ id: 'a', p: 0, o: 100, e: 6 }, 'seen'],
      [{ id: 'a', p: 0, o: 101, e: 6 }, 'new'],
      [{ id: 'a', p: 0, o: 102, e: 7 }, 'new'],
      [{ id: 'a', p: 0, o: 101, e: 6 }, 'seen'],
    ],
  'an offset that is given again after a reset of the position is another event, and what comes late from before is a copy':
    [
      [{ id: 'a', p: 0, o: 200, e: BEFORE }, 'new'],
      [{ id: 'a', p: 0, o: 100, e: RESET }, 'restarted'],
      [{ id: 'a', p: 0, o: 100, e: RESET }, 'seen'],
      [{ id: 'a', p: 0, o: 99, e: BEFORE }, 'seen'],
      [{ id: 'a', p: 0, o: 101, e: RESET }, 'new'],
      [{ id: 'a', p: 0, o: 50, e: RESET_AGAIN }, 'restarted'],
      [{ id: 'a', p: 0, o: 102, e: RESET }, 'seen'],
      [{ id: 'a', p: 0, o: 51, e: RESET_AGAIN }, 'new'],
    ],
  'where pods of the version before tell no leader epoch, offsets alone decide': [
    [{ id: 'a', p: 0, o: 1, e: 5 }, 'new'],
    [{ id: 'a', p: 0, o: 1 }, 'seen'],
    [{ id: 'a', p: 0, o: 2 }, 'new'],
    [{ id: 'a', p: 0, o: 2, e: 6 }, 'seen'],
    [{ id: 'a', p: 0, o: 3, e: 6 }, 'new'],
    [{ id: 'a', p: 0, o: 2, e: 7 }, 'restarted'],
  ],
  'partitions of one number are of different topics in a stream of several': [
    [{ t: 'a', m: 1, p: 0, o: 5 }, 'new'],
    [{ t: 'b', m: 1, p: 0, o: 4 }, 'new'],
    [{ t: 'c', m: 1, p: 0, o: 4 }, 'new'],
    [{ t: 'a', m: 1, p: 0, o: 5 }, 'seen'],
    [{ t: 'b', m: 1, p: 0, o: 4 }, 'seen'],
    [{ t: 'b', m: 1, p: 0, o: 5 }, 'new'],
  ],
  'pods that do not know the id of a topic yet, and those that do, are understood alike': [
    [{ p: 0, o: 1 }, 'new'],
    [{ id: 'a', p: 0, o: 2 }, 'new'],
    [{ p: 0, o: 2 }, 'seen'],
    [{ p: 0, o: 3 }, 'new'],
    [{ id: 'a', p: 0, o: 3 }, 'seen'],
    [{ id: 'b', p: 0, o: 3 }, 'restarted'],
  ],
};

for (const [title, rows] of Object.entries(CHANNEL)) {
  test(title, () => {
    const offsets = new ChannelOffsets();
    const verdicts = rows.map(([position]) => [position, offsets.see(position)]);
    assert.deepEqual(verdicts, rows);
  });
}

/** Whether a group has not had an event yet. */
const GROUP: Rows<boolean> = {
  'a group tells an event of a topic made anew from the former one of its offset, where both pods know the id':
    [
      [{ id: 'a', p: 0, o: 1 }, true],
      [{ p: 0, o: 1 }, false],
      [{ id: 'b', p: 0, o: 1 }, true],
      [{ p: 0, o: 2 }, true],
      [{ id: 'b', p: 0, o: 2 }, false],
    ],
  'a group takes an event that comes late on one of its channels, unless it has had it before': [
    [{ p: 0, o: 6 }, true],
    [{ p: 0, o: 5 }, true],
    [{ p: 0, o: 6 }, false],
    [{ p: 0, o: 5 }, false],
    [{ p: 1, o: 5 }, true],
  ],
  'a group tells events of one offset apart by their topics, in a stream of several': [
    [{ t: 'a', m: 1, p: 0, o: 5 }, true],
    [{ t: 'b', m: 1, p: 0, o: 5 }, true],
    [{ t: 'a', m: 1, p: 0, o: 5 }, false],
  ],
  'a group tells events of one offset apart by their leader epochs, where both pods know them': [
    [{ id: 'a', p: 0, o: 1, e: 5 }, true],
    [{ id: 'a', p: 0, o: 1, e: 5 }, false],
    [{ id: 'a', p: 0, o: 1 }, false],
    [{ id: 'a', p: 0, o: 1, e: 6 }, true],
    [{ id: 'a', p: 0, o: 1, e: 5 }, false],
    [{ id: 'a', p: 0, o: 1, e: 6 }, false],
  ],
  'a group tells events of one offset apart by a reset of the position': [
    [{ id: 'a', p: 0, o: 7, e: BEFORE }, true],
    [{ id: 'a', p: 0, o: 7, e: RESET }, true],
    [{ id: 'a', p: 0, o: 7, e: BEFORE }, false],
    [{ id: 'a', p: 0, o: 7, e: RESET }, false],
  ],
};

for (const [title, rows] of Object.entries(GROUP)) {
  test(title, () => {
    const recent = new RecentPositions();
    const verdicts = rows.map(([position]) => [position, recent.add(position)]);
    assert.deepEqual(verdicts, rows);
  });
}

test('a group recognises the last 512 events at least, and forgets the oldest', () => {
  const recent = new RecentPositions();
  for (let o = 0; o < 2_000; o += 1) assert.equal(recent.add({ p: 0, o }), true);
  for (let o = 2_000 - 512; o < 2_000; o += 1) assert.equal(recent.add({ p: 0, o }), false);
  assert.equal(recent.add({ p: 0, o: 0 }), true);
});
