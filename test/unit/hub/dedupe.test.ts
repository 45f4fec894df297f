import assert from 'node:assert/strict';
import test from 'node:test';
import { ChannelOffsets, RecentPositions } from '../../../src/hub/dedupe.ts';

test('an event whose offset does not go up has been seen before, counted for its own partition only', () => {
  const offsets = new ChannelOffsets();
  const verdicts = [
    { p: 0, o: 5, ts: 100 },
    { p: 0, o: 5, ts: 100 },
    { p: 0, o: 4, ts: 90 },
    { p: 1, o: 4, ts: 90 },
    { p: 0, o: 9, ts: 80 },
    { p: 0, o: 6, ts: 85 },
  ].map((position) => offsets.see(position));
  assert.deepEqual(verdicts, ['new', 'seen', 'seen', 'new', 'new', 'seen']);
});

test('offsets that go back while timestamps go on mean that the topic was created anew', () => {
  const offsets = new ChannelOffsets();
  offsets.see({ p: 0, o: 1_000, ts: 100 });
  assert.equal(offsets.see({ p: 0, o: 0, ts: 200 }), 'restarted');
  assert.equal(offsets.see({ p: 0, o: 1, ts: 201 }), 'new');
  assert.equal(offsets.see({ p: 0, o: 1, ts: 201 }), 'seen');
});

test('a late copy of an event does not count as a topic created anew, though the clocks of producers differ', () => {
  const offsets = new ChannelOffsets();
  offsets.see({ p: 0, o: 10, ts: 1_000 });
  offsets.see({ p: 0, o: 11, ts: 900 });
  assert.equal(offsets.see({ p: 0, o: 10, ts: 1_000 }), 'seen');
});

test('a group recognises the last 512 events at least, and forgets the oldest', () => {
  const recent = new RecentPositions();
  for (let o = 0; o < 2_000; o += 1) assert.equal(recent.add({ p: 0, o, ts: o }), true);
  for (let o = 2_000 - 512; o < 2_000; o += 1) assert.equal(recent.add({ p: 0, o, ts: o }), false);
  assert.equal(recent.add({ p: 0, o: 0, ts: 0 }), true);
});

test('a group takes an event that comes late on one of its channels, unless it has had it before', () => {
  const recent = new RecentPositions();
  assert.deepEqual(
    [6, 5, 6, 5].map((o) => recent.add({ p: 0, o, ts: o })),
    [true, true, false, false],
  );
});
