import assert from 'node:assert/strict';
import test from 'node:test';
import { ChannelOffsets, RecentPositions } from '../../../src/hub/dedupe.ts';

test('an event whose offset does not go up has been seen before, counted for its own partition only', () => {
  const offsets = new ChannelOffsets();
  const verdicts = [
    { p: 0, o: 5 },
    { p: 0, o: 5 },
    { p: 0, o: 4 },
    { p: 1, o: 4 },
    { p: 0, o: 9 },
    { p: 0, o: 6 },
  ].map((position) => offsets.see({ id: 'a', ...position }));
  assert.deepEqual(verdicts, ['new', 'seen', 'seen', 'new', 'new', 'seen']);
});

test('another topic id means that the topic was made anew, and late events of the former topic are told from copies', () => {
  const offsets = new ChannelOffsets();
  const verdicts = [
    { id: 'a', p: 0, o: 1_000 },
    { id: 'b', p: 0, o: 1_000 },
    { id: 'b', p: 0, o: 1_001 },
    { id: 'a', p: 0, o: 1_000 },
    { id: 'a', p: 0, o: 1_002 },
    { id: 'a', p: 0, o: 1_002 },
    { id: 'b', p: 0, o: 1_001 },
    { id: 'b', p: 0, o: 1_002 },
  ].map((position) => offsets.see(position));
  assert.deepEqual(verdicts, ['new', 'restarted', 'new', 'seen', 'new', 'seen', 'seen', 'new']);
});

test('where the first event of a former topic comes behind the new one’s, the new one goes on', () => {
  const offsets = new ChannelOffsets();
  const verdicts = [
    { id: 'b', p: 0, o: 0 },
    { id: 'a', p: 0, o: 7 },
    { id: 'b', p: 0, o: 0 },
    { id: 'b', p: 0, o: 1 },
  ].map((position) => offsets.see(position));
  assert.deepEqual(verdicts, ['new', 'restarted', 'seen', 'new']);
});

test('an offset that is given again in a higher leader epoch is another event, and what comes late of a lower one is a copy', () => {
  const offsets = new ChannelOffsets();
  const verdicts = [
    { o: 200, e: 5 },
    { o: 100, e: 6 },
    { o: 200, e: 5 },
    { o: 201, e: 5 },
    { o: 100, e: 6 },
    { o: 101, e: 6 },
    { o: 102, e: 7 },
    { o: 101, e: 6 },
  ].map((position) => offsets.see({ id: 'a', p: 0, ...position }));
  assert.deepEqual(verdicts, ['new', 'restarted', 'seen', 'seen', 'seen', 'new', 'new', 'seen']);
});

test('an offset that is given again after a reset of the position is another event, and what comes late from before is a copy', () => {
  const offsets = new ChannelOffsets();
  const recent = new RecentPositions();
  const [before, after, later] = [5, 1e10 + 5, 2e10 + 4];
  const positions = [
    { o: 200, e: before },
    { o: 100, e: after },
    { o: 100, e: after },
    { o: 99, e: before },
    { o: 101, e: after },
    { o: 50, e: later },
    { o: 102, e: after },
    { o: 51, e: later },
  ].map((position) => ({ id: 'a', p: 0, ...position }));
  assert.deepEqual(
    positions.map((position) => offsets.see(position)),
    ['new', 'restarted', 'seen', 'seen', 'new', 'restarted', 'seen', 'new'],
  );
  for (const position of positions.slice(0, 2)) assert.equal(recent.add({ ...position, o: 7 }), true);
  for (const position of positions.slice(0, 2)) assert.equal(recent.add({ ...position, o: 7 }), false);
});

test('where pods of the version before tell no leader epoch, offsets alone decide', () => {
  const offsets = new ChannelOffsets();
  const verdicts = [{ o: 1, e: 5 }, { o: 1 }, { o: 2 }, { o: 2, e: 6 }, { o: 3, e: 6 }, { o: 2, e: 7 }].map(
    (position) => offsets.see({ id: 'a', p: 0, ...position }),
  );
  assert.deepEqual(verdicts, ['new', 'seen', 'new', 'seen', 'new', 'restarted']);
});

test('pods that do not know the id of a topic yet, and those that do, are understood alike', () => {
  const offsets = new ChannelOffsets();
  const verdicts = [
    { p: 0, o: 1 },
    { id: 'a', p: 0, o: 2 },
    { p: 0, o: 2 },
    { p: 0, o: 3 },
    { id: 'a', p: 0, o: 3 },
  ].map((position) => offsets.see(position));
  assert.deepEqual(verdicts, ['new', 'new', 'seen', 'new', 'seen']);
});

test('a group recognises the last 512 events at least, and forgets the oldest', () => {
  const recent = new RecentPositions();
  for (let o = 0; o < 2_000; o += 1) assert.equal(recent.add({ p: 0, o }), true);
  for (let o = 2_000 - 512; o < 2_000; o += 1) assert.equal(recent.add({ p: 0, o }), false);
  assert.equal(recent.add({ p: 0, o: 0 }), true);
});

test('a group tells an event of a topic made anew from the former one of its offset, where both pods know the id', () => {
  const recent = new RecentPositions();
  const positions = [
    { id: 'a', p: 0, o: 1 },
    { p: 0, o: 1 },
    { id: 'b', p: 0, o: 1 },
    { p: 0, o: 2 },
    { id: 'b', p: 0, o: 2 },
  ];
  assert.deepEqual(
    positions.map((position) => recent.add(position)),
    [true, false, true, true, false],
  );
});

test('a group takes an event that comes late on one of its channels, unless it has had it before', () => {
  const recent = new RecentPositions();
  assert.deepEqual(
    [6, 5, 6, 5].map((o) => recent.add({ p: 0, o })),
    [true, true, false, false],
  );
});

test('a group tells events of one offset apart by their leader epochs, where both pods know them', () => {
  const recent = new RecentPositions();
  const positions = [
    { o: 1, e: 5 },
    { o: 1, e: 5 },
    { o: 1 },
    { o: 1, e: 6 },
    { o: 1, e: 5 },
    { o: 1, e: 6 },
  ];
  assert.deepEqual(
    positions.map((position) => recent.add({ id: 'a', p: 0, ...position })),
    [true, false, false, true, false, false],
  );
});
