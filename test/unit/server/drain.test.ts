import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Drain } from '../../../src/server/drain.ts';
import { silent } from './serve.ts';
import { deferred } from '../../helpers/deferred.ts';

/** A drain whose steps each wait until the test lets them end. */
function setUp({ leaves = true } = {}) {
  const steps: string[] = [];
  const held = { delay: deferred(), waves: deferred(), left: deferred() };
  const step = (name: string, { promise }: { readonly promise: Promise<void> }): Promise<void> => {
    steps.push(name);
    return promise;
  };
  const drain = new Drain({
    settings: { DRAIN_DELAY_SECONDS: 5, DRAIN_SECONDS: 20 },
    clock: {
      now: () => 0,
      random: () => 0,
      sleep: (ms) => step(`wait ${ms}`, held.delay),
    },
    log: silent,
    publicServer: {
      refuseUpgrades: () => void steps.push('refuse'),
      stopListening: () => void steps.push('stop listening'),
    },
    connections: { closeStaggered: (overMs) => step(`waves over ${overMs}`, held.waves) },
    leaveGroup: leaves ? () => step('leave', held.left) : undefined,
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

test('a draining pod is not ready at once, and goes on as before until the delay is over', async () => {
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

test('a drain ends once the sockets are closed and the pod has left its consumer group, in either order', async () => {
  for (const first of ['waves', 'left'] as const) {
    const { drain, held } = setUp();
    const running = drain.run();
    held.delay.resolve();
    held[first].resolve();
    assert.equal(await isDone(running), false);
    held[first === 'waves' ? 'left' : 'waves'].resolve();
    assert.equal(await isDone(running), true);
    drain.stopping();
    assert.equal(drain.notReady(), 'stopping');
  }
});

test('a pod that shares its events with no other pod does not leave its group', async () => {
  const { drain, steps, held } = setUp({ leaves: false });
  held.delay.resolve();
  held.waves.resolve();
  await drain.run();
  assert.deepEqual(steps, ['wait 5000', 'refuse', 'waves over 20000']);
});

test('a pod that fails to leave its group still closes its sockets', async () => {
  const { drain, held } = setUp();
  const running = drain.run();
  held.delay.resolve();
  held.left.resolve(Promise.reject(new Error('Kafka is away')) as never);
  assert.equal(await isDone(running), false);
  held.waves.resolve();
  await running;
});

test('one worker of several stops listening at once, and leaves new connections to the others', async () => {
  const { drain, steps, held } = setUp();
  held.left.resolve();
  held.waves.resolve();
  await drain.run({ alone: true });
  assert.deepEqual(steps, ['stop listening', 'refuse', 'leave', 'waves over 20000']);
});
