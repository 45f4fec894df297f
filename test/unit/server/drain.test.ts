import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Drain } from '../../../src/server/drain.ts';
import { deferred, silent } from './serve.ts';

/** A drain that stands still until the test lets it go on, step by step. */
function setUp({ leaves = true } = {}) {
  const steps: string[] = [];
  const held = { delay: deferred(), waves: deferred(), left: deferred() };
  const drain = new Drain({
    settings: { DRAIN_DELAY_SECONDS: 5, DRAIN_SECONDS: 20 },
    clock: {
      now: () => 0,
      random: () => 0,
      sleep: (ms) => {
        steps.push(`wait ${ms}`);
        return held.delay.promise;
      },
    },
    log: silent,
    publicServer: {
      refuseUpgrades: () => void steps.push('refuse'),
      stopListening: () => void steps.push('stop listening'),
    },
    sockets: {
      closeStaggered: (overMs) => {
        steps.push(`waves over ${overMs}`);
        return held.waves.promise;
      },
    },
    leaveGroup: leaves
      ? () => {
          steps.push('leave');
          return held.left.promise;
        }
      : undefined,
  });
  return { drain, steps, held };
}

/** Whether it has resolved after a turn of the event loop. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await turn();
  return done;
}

test('a pod is not ready from the first moment, and goes on as before until the delay is over', async () => {
  const { drain, steps, held } = setUp();
  assert.equal(drain.notReady(), undefined);
  const running = drain.run();
  assert.equal(drain.notReady(), 'draining');
  assert.equal(await isDone(running), false);
  assert.deepEqual(steps, ['wait 5000']);
  held.delay.resolve();
  await turn();
  assert.deepEqual(steps.slice(1), ['refuse', 'leave', 'waves over 20000']);
});

test('it ends once the sockets are closed and the group is left, whichever takes longer', async () => {
  for (const [first, second] of [
    ['waves', 'left'],
    ['left', 'waves'],
  ] as const) {
    const { drain, held } = setUp();
    const running = drain.run();
    held.delay.resolve();
    held[first].resolve();
    assert.equal(await isDone(running), false);
    held[second].resolve();
    assert.equal(await isDone(running), true);
    drain.stopping();
    assert.equal(drain.notReady(), 'stopping');
  }
});

test('where nobody else would consume, there is no group to leave', async () => {
  const { drain, steps, held } = setUp({ leaves: false });
  held.delay.resolve();
  held.waves.resolve();
  await drain.run();
  assert.deepEqual(steps, ['wait 5000', 'refuse', 'waves over 20000']);
});

test('a group that can not be left does not keep the sockets from being closed', async () => {
  const { drain, held } = setUp();
  const running = drain.run();
  held.delay.resolve();
  held.left.resolve(Promise.reject(new Error('Kafka is away')) as never);
  assert.equal(await isDone(running), false);
  held.waves.resolve();
  await running;
});

test('one process of several leaves new connections to the others at once', async () => {
  const { drain, steps, held } = setUp();
  held.left.resolve();
  held.waves.resolve();
  await drain.run({ alone: true });
  assert.deepEqual(steps, ['stop listening', 'refuse', 'leave', 'waves over 20000']);
});
