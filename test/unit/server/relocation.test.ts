import assert from 'node:assert/strict';
import test from 'node:test';
import { Relocation } from '../../../src/server/relocation.ts';
import { silent } from './serve.ts';

const REASON = 'this pod hears nothing of Redis, though others do';

function setUp() {
  const waves: AbortSignal[] = [];
  const closeStaggered = async (overMs: number, signal: AbortSignal): Promise<void> => {
    assert.equal(overMs, 20_000);
    waves.push(signal);
  };
  return {
    waves,
    relocation: new Relocation({ connections: { closeStaggered }, overMs: 20_000, log: silent }),
  };
}

test('a deaf pod is not ready, takes no sockets, and closes those it has, once', () => {
  const { waves, relocation } = setUp();
  assert.deepEqual([relocation.notReady(), relocation.fault()], [undefined, undefined]);
  relocation.heard(true);
  relocation.heard(true);
  assert.deepEqual(relocation.fault(), { reason: 'deaf', message: REASON });
  assert.equal(relocation.notReady(), REASON);
  assert.equal(waves.length, 1);
});

test('a pod that hears again takes sockets, and leaves those open that it has not closed yet', () => {
  const { waves, relocation } = setUp();
  relocation.heard(false);
  assert.equal(waves.length, 0);
  relocation.heard(true);
  assert.equal(waves[0]?.aborted, false);
  relocation.heard(false);
  assert.equal(waves[0]?.aborted, true);
  assert.deepEqual([relocation.notReady(), relocation.fault()], [undefined, undefined]);
  relocation.heard(true);
  assert.equal(waves.length, 2);
});
