import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { Histories } from '../../../../src/bus/redis/histories.ts';
import { createLog } from '../../../../src/log.ts';
import { roomOf } from '../../../../src/support/byte-budget.ts';
import { stillClock } from '../../support/still-clock.ts';

/** Histories whose commands are answered, and whose listening connection does as the test says. */
function setUp(fence: () => Promise<void>) {
  const { clock, sleeps } = stillClock();
  const histories = new Histories({
    settings: new Map([['kept', { size: 10, ttlMs: 120_000, keepsAll: false }]]),
    commands: { send: async (commands) => commands.map(() => ({ value: ['e', 0, 0] })) },
    listening: { fence },
    missedRoom: roomOf(1_000),
    names: new BusNames(''),
    clock,
    log: createLog('silent'),
    lost: () => undefined,
    missed: () => undefined,
    wasRead: () => undefined,
  });
  return { histories, sleeps };
}

test('what is kept is waited for no longer than 30 s, even if only the listening connection is away', async () => {
  const { histories, sleeps } = setUp(() => new Promise(() => undefined));
  const reading = assert.rejects(histories.read('kept', [], 0, { maxBytes: 0 }), { name: 'NoHistory' });
  while (sleeps.length === 0) await setImmediate();
  assert.equal(sleeps[0]?.ms, 30_000);
  sleeps[0].end();
  await reading;
});

test('what is kept is read again after an attempt that has failed', async () => {
  let attempts = 0;
  const { histories, sleeps } = setUp(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('the connection is lost');
  });
  const reading = histories.read('kept', [], 0, { maxBytes: 0 });
  while (sleeps.length < 2) await setImmediate();
  sleeps[1]?.end();
  assert.deepEqual((await reading).position, { epoch: 'e', sequence: 0 });
});
