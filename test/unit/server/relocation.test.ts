import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Relocation } from '../../../src/server/relocation.ts';
import { silent } from './serve.ts';
import { deferred } from '../../helpers/deferred.ts';

const REASON = 'this pod hears nothing of Redis, though others do';

function setUp() {
  const waves: AbortSignal[] = [];
  const delay = deferred();
  const closeStaggered = async (overMs: number, signal: AbortSignal): Promise<void> => {
    assert.equal(overMs, 20_000);
    waves.push(signal);
  };
  return {
    waves,
    untilBalancersKnow: async () => {
      delay.resolve();
      await turn();
    },
    relocation: new Relocation({
      settings: { DRAIN_DELAY_SECONDS: 5, DRAIN_SECONDS: 20 },
      connections: { closeStaggered },
      clock: { now: () => 0, random: () => 0, sleep: (ms) => (assert.equal(ms, 5_000), delay.promise) },
      log: silent,
    }),
  };
}

test('a deaf pod is not ready, and once balancers know, takes no sockets, and closes those it has, once', async () => {
  const { waves, relocation, untilBalancersKnow } = setUp();
  assert.deepEqual([relocation.notReady(), relocation.fault()], [undefined, undefined]);
  relocation.heard(true);
  relocation.heard(true);
  assert.deepEqual([relocation.notReady(), relocation.fault(), waves.length], [REASON, undefined, 0]);
  await untilBalancersKnow();
  assert.deepEqual(relocation.fault(), { reason: 'deaf', message: REASON });
  assert.deepEqual([relocation.notReady(), waves.length], [REASON, 1]);
});

test('a pod that hears again takes sockets, and leaves those open that it has not closed yet', async () => {
  const { waves, relocation, untilBalancersKnow } = setUp();
  relocation.heard(false);
  await untilBalancersKnow();
  assert.equal(waves.length, 0);
  relocation.heard(true);
  await turn();
  assert.equal(waves[0]?.aborted, false);
  relocation.heard(false);
  assert.equal(waves[0]?.aborted, true);
  assert.deepEqual([relocation.notReady(), relocation.fault()], [undefined, undefined]);
  relocation.heard(true);
  relocation.heard(false);
  await turn();
  assert.equal(waves.length, 1, 'it has heard again before balancers knew');
});
