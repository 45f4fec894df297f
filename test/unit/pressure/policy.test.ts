import assert from 'node:assert/strict';
import { test } from 'node:test';
import { range } from '../../helpers/numbers.ts';
import {
  afterSample,
  CALM_STATE,
  collects,
  fullest,
  hasGrown,
  pauses,
  sheds,
  SOURCES,
  type Level,
  type PressureState,
  type Sample,
  type Source,
} from '../../../src/pressure/policy.ts';

const NONE: Sample = { heap: 0, memory: 0, resident: 0, waiting: 0, loop: 0 };

const THRESHOLDS = [0.75, 0.8, 0.85] as const;
const LEVELS = [0, 1, 2, 3] as const;

/** The state after these samples, which are shares of one source. */
function after(shares: readonly number[], { source = 'memory' as Source, from = CALM_STATE } = {}) {
  return shares.reduce<PressureState>(
    (state, share) => afterSample(state, { ...NONE, [source]: share }, THRESHOLDS),
    from,
  );
}

const times = (count: number, share: number): number[] => range(0, count).map(() => share);

/** Whether sockets are shed if the next sample, after a collection, is this. */
const shedsAt = (share: number, from = CALM_STATE): boolean =>
  sheds(after([share], { from }), { ...NONE, memory: share }, THRESHOLDS);

const at = (level: Level): PressureState => ({ level, calm: 0, paused: level >= 2 ? 1 : 0 });

test('a sample raises the level to the one whose threshold it has reached', () => {
  const levels = [0, 0.74, 0.75, 0.79, 0.8, 0.84, 0.85, 1.5].map(
    (share) => `${share}: ${after([share]).level}`,
  );
  assert.deepEqual(levels, [
    '0: 0',
    '0.74: 0',
    '0.75: 1',
    '0.79: 1',
    '0.8: 2',
    '0.84: 2',
    '0.85: 3',
    '1.5: 3',
  ]);
});

test('the event loop raises the level to 1 at most, and what is resident to none', () => {
  const levels = SOURCES.map((source) => [source, after([0.99], { source }).level]);
  assert.deepEqual(Object.fromEntries(levels), { heap: 3, memory: 3, waiting: 3, resident: 0, loop: 1 });
});

test('one source that is full is enough', () => {
  const state = afterSample(CALM_STATE, { ...NONE, heap: 0.1, waiting: 0.82, loop: 0.9 }, THRESHOLDS);
  assert.equal(state.level, 2);
});

test('a level is kept while the share is less than five hundredths below its threshold', () => {
  assert.equal(after(times(100, 0.71), { from: at(1) }).level, 1);
  assert.equal(after(times(8, 0.76), { from: at(2) }).level, 2);
  assert.equal(after([...times(7, 0.1), 0.72, ...times(7, 0.1)], { from: at(1) }).level, 1, 'it counts anew');
});

test('each level takes eight calm samples in a row to end, and the next begins to count anew', () => {
  const levels = range(0, 25).map((count) => after(times(count, 0.1), { from: at(3) }).level);
  assert.equal(levels.join(''), '3333333322222222111111110');
});

test('nothing is consumed at the levels 2 and 3, and for 30 seconds at most', () => {
  const pausing = LEVELS.map((level) => pauses(at(level)));
  assert.deepEqual(pausing, [false, false, true, true]);
  assert.equal(pauses(after(times(120, 0.99))), true);
  const late = after(times(121, 0.99));
  assert.deepEqual([pauses(late), late.level], [false, 3]);
});

test('a pause that is over does not begin anew before the level has been under 2', () => {
  const late = after(times(121, 0.99));
  assert.equal(pauses(after([...times(8, 0.1), 0.99], { from: late })), false);
  assert.equal(pauses(after([...times(16, 0.1), 0.99], { from: late })), true);
});

test('where a pause alone has not helped for 5 seconds, sockets are shed until it can end', () => {
  for (const share of [0.75, 0.79, 0.84]) {
    const inVain = after(times(20, share), { from: after([0.8]) });
    assert.deepEqual([inVain.level, shedsAt(share, inVain)], [3, true], `${share}`);
  }
  assert.equal(after(times(19, 0.84), { from: after([0.8]) }).level, 2);
  const paused = after(times(20, 0.76), { from: after([0.8]) });
  assert.equal(shedsAt(0.76, paused), true);
  assert.equal(shedsAt(0.71, paused), true, 'garbage would soon be more than one margin');
  assert.equal(shedsAt(0.69, paused), false);
});

test('sockets are shed at level 3 only, and not in calm samples', () => {
  const from = after([0.85]);
  assert.equal(shedsAt(0.84), false);
  assert.equal(shedsAt(0.85), true);
  assert.equal(shedsAt(0.74, from), false);
  assert.equal(shedsAt(0.76, from), true);
});

test('garbage is collected for each source but the event loop, and wherever sockets are to be shed', () => {
  const collecting = SOURCES.filter((source) => collects(at(1), { ...NONE, [source]: 0.75 }, THRESHOLDS));
  assert.deepEqual(collecting, ['heap', 'memory', 'waiting']);
  assert.equal(collects(at(2), { ...NONE, memory: 0.74 }, THRESHOLDS), false);
  assert.equal(collects(at(3), { ...NONE, memory: 0.74 }, [0.75, 0.76, 0.77]), true);
});

test('memory has grown once a margin has been added since the last collection, which counts at level 3 only', () => {
  const collected = { ...NONE, memory: 0.75 };
  const grown = (level: Level, share: number): boolean =>
    hasGrown(at(level), { ...NONE, memory: share }, collected);
  assert.deepEqual([grown(3, 0.79), grown(3, 0.81), grown(2, 0.81)], [false, true, false]);
});

test('the fullest source is named, of those that can raise the level so high', () => {
  const sample = { ...NONE, heap: 0.2, resident: 0.95, waiting: 0.7, loop: 0.9 };
  const sources = LEVELS.map((level) => fullest(sample, level));
  assert.deepEqual(sources, ['loop', 'loop', 'waiting', 'waiting']);
});
