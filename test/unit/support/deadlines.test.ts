import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Deadlines } from '../../../src/support/deadlines.ts';
import { range } from '../../helpers/numbers.ts';
import { holdTime } from '../turns.ts';

/** Deadlines on a clock that the test turns; `after` lets time pass and tells which have expired. */
function setUp(t: TestContext, afterMs: number) {
  const pass = holdTime(t);
  const expired: string[] = [];
  const deadlines = new Deadlines<string>(afterMs, (subject) => expired.push(subject));
  const after = (ms: number): string => {
    pass(ms);
    return expired.splice(0).join();
  };
  return { deadlines, after };
}

test('each deadline expires after its own time, in order', (t) => {
  const { deadlines, after } = setUp(t, 100);
  deadlines.begin('a');
  after(60);
  deadlines.begin('b');
  assert.deepEqual([after(39), after(1), after(59), after(1)], ['', 'a', '', 'b']);
});

test('a deadline that was ended does not expire, and the others keep their time', (t) => {
  const { deadlines, after } = setUp(t, 100);
  deadlines.begin('a');
  after(50);
  deadlines.begin('b');
  deadlines.end('a');
  deadlines.end('a');
  assert.deepEqual([after(50), after(50)], ['', 'b']);
});

test('of many that are over at the same time, 250 expire in a turn of the event loop, in order', (t) => {
  const { deadlines, after } = setUp(t, 100);
  const subjects = range(0, 600).map(String);
  for (const subject of subjects) deadlines.begin(subject);
  const turns = [after(100), after(1), after(1), after(1)].map((text) => text.split(',').filter(Boolean));
  assert.deepEqual(
    turns.map(({ length }) => length),
    [250, 250, 100, 0],
  );
  assert.deepEqual(turns.flat(), subjects);
});

test('those that have had a deadline for long enough expire earlier, and the others keep their time', (t) => {
  const { deadlines, after } = setUp(t, 100);
  deadlines.begin('a');
  after(19);
  deadlines.begin('b');
  after(1);
  deadlines.begin('c');
  after(50);
  deadlines.expireAfter(50);
  assert.deepEqual([after(0), after(49), after(1)], ['a,b', '', 'c']);
});

test('new deadlines may begin after all have ended', (t) => {
  const { deadlines, after } = setUp(t, 100);
  deadlines.begin('a');
  deadlines.end('a');
  after(50);
  deadlines.begin('b');
  assert.deepEqual([after(99), after(1)], ['', 'b']);
});

test('without a time no deadline expires', (t) => {
  const { deadlines, after } = setUp(t, 0);
  deadlines.begin('a');
  assert.equal(after(1_000_000), '');
});
