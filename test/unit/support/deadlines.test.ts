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

test('where it takes long, the rest of those that are over expire in later turns of the event loop, in order', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const expired: number[] = [];
  const deadlines = new Deadlines<number>(100, (subject) => {
    now += 3;
    expired.push(subject);
  });
  for (const subject of range(0, 10)) deadlines.begin(subject);
  now = 100;
  const turns = [100, 1, 1, 1].map((ms) => {
    t.mock.timers.tick(ms);
    return expired.length;
  });
  assert.deepEqual([turns, expired], [[4, 8, 10, 10], range(0, 10)]);
});

test('a deadline that begins while another expires has one timer, and that of one that throws leaves the others theirs', (t) => {
  const pass = holdTime(t);
  const expired: string[] = [];
  const deadlines = new Deadlines<string>(100, (subject) => {
    expired.push(subject);
    if (subject === 'a') deadlines.begin('c');
    if (subject === 'b') throw new Error('b');
  });
  deadlines.begin('a');
  deadlines.begin('b');
  deadlines.begin('d');
  assert.throws(() => pass(100), { message: 'b' });
  pass(1);
  assert.deepEqual(expired, ['a', 'b', 'd']);
  deadlines.end('c');
  pass(200);
  assert.deepEqual(expired, ['a', 'b', 'd']);
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
