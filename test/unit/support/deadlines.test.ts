import assert from 'node:assert/strict';
import test, { mock, type TestContext } from 'node:test';
import { Deadlines } from '../../../src/support/deadlines.ts';

/** Deadlines on a clock that the test turns. */
function setUp(t: TestContext, afterMs: number) {
  let now = 0;
  mock.method(performance, 'now', () => now);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => {
    mock.timers.reset();
    mock.restoreAll();
  });
  const expired: string[] = [];
  const deadlines = new Deadlines<string>(afterMs, (subject) => expired.push(subject));
  const pass = (ms: number): void => {
    now += ms;
    mock.timers.tick(ms);
  };
  return { deadlines, expired, pass };
}

test('each deadline expires after its own time, in order', (t) => {
  const { deadlines, expired, pass } = setUp(t, 100);
  deadlines.begin('a');
  pass(60);
  deadlines.begin('b');
  pass(39);
  assert.deepEqual(expired, []);
  pass(1);
  assert.deepEqual(expired, ['a']);
  pass(59);
  assert.deepEqual(expired, ['a']);
  pass(1);
  assert.deepEqual(expired, ['a', 'b']);
});

test('a deadline that was ended does not expire, and the others keep their time', (t) => {
  const { deadlines, expired, pass } = setUp(t, 100);
  deadlines.begin('a');
  pass(50);
  deadlines.begin('b');
  deadlines.end('a');
  deadlines.end('a');
  pass(50);
  assert.deepEqual(expired, []);
  pass(50);
  assert.deepEqual(expired, ['b']);
});

test('new deadlines may begin after all have ended', (t) => {
  const { deadlines, expired, pass } = setUp(t, 100);
  deadlines.begin('a');
  deadlines.end('a');
  pass(50);
  deadlines.begin('b');
  pass(99);
  assert.deepEqual(expired, []);
  pass(1);
  assert.deepEqual(expired, ['b']);
});

test('without a time no deadline expires', (t) => {
  const { deadlines, expired, pass } = setUp(t, 0);
  deadlines.begin('a');
  pass(1_000_000);
  assert.deepEqual(expired, []);
});
