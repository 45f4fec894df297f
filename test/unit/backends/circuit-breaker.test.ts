import assert from 'node:assert/strict';
import test from 'node:test';
import { CircuitBreaker, type BreakerState } from '../../../src/backends/circuit-breaker.ts';

function setUp({ failures = 3, openMs = 1_000 } = {}) {
  const states: BreakerState[] = [];
  let time = 0;
  const breaker = new CircuitBreaker({
    failures,
    openMs,
    now: () => time,
    onChange: (state) => states.push(state),
  });
  const enter = (): number => breaker.enter() ?? assert.fail('expected to be let through');
  const failTimes = (times: number): void => {
    for (let turn = 0; turn < times; turn++) breaker.fail(enter());
  };
  return { breaker, states, enter, failTimes, advance: (ms: number) => (time += ms) };
}

test('failures in a row open the breaker, not failures with a success between them', () => {
  const { breaker, states, enter, failTimes } = setUp();
  failTimes(2);
  breaker.succeed(enter());
  failTimes(2);
  assert.equal(breaker.refuses, false);
  failTimes(1);
  assert.equal(breaker.refuses, true);
  assert.equal(breaker.enter(), undefined);
  assert.deepEqual(states, ['open']);
});

test('after its wait the breaker lets one trial through, whose success closes it', () => {
  const { breaker, states, enter, failTimes, advance } = setUp();
  failTimes(3);
  advance(999);
  assert.equal(breaker.enter(), undefined);
  advance(1);
  const trial = enter();
  assert.equal(breaker.enter(), undefined, 'one trial only');
  breaker.succeed(trial);
  assert.deepEqual(states, ['open', 'half-open', 'closed']);
  failTimes(2);
  assert.equal(breaker.refuses, false, 'failures are counted afresh');
});

test('each trial that fails doubles the wait, up to 30 s, and a success resets it', () => {
  const { breaker, enter, failTimes, advance } = setUp();
  failTimes(3);
  for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    advance(ms - 1);
    assert.equal(breaker.refuses, true, `within ${ms}`);
    advance(1);
    breaker.fail(enter());
  }
  advance(30_000);
  breaker.succeed(enter());
  failTimes(3);
  advance(1_000);
  assert.equal(breaker.refuses, false);
});

test('a trial without an outcome leaves the trial to the next caller', () => {
  const { breaker, states, enter, failTimes, advance } = setUp();
  failTimes(3);
  advance(1_000);
  breaker.withdraw(enter());
  breaker.succeed(enter());
  assert.equal(states.at(-1), 'closed');
});

test('outcomes of calls from an earlier period do not count', () => {
  const { breaker, states, enter, failTimes, advance } = setUp();
  const early = [enter(), enter(), enter()] as const;
  failTimes(3);
  breaker.succeed(early[0]);
  assert.equal(breaker.refuses, true);
  advance(1_000);
  const trial = enter();
  breaker.fail(early[1]);
  breaker.withdraw(early[2]);
  breaker.succeed(early[0]);
  assert.equal(states.at(-1), 'half-open');
  breaker.succeed(trial);
  assert.equal(breaker.refuses, false);
});
