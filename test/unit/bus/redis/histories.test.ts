import assert from 'node:assert/strict';
import test from 'node:test';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { Histories } from '../../../../src/bus/redis/histories.ts';
import { createLog } from '../../../../src/log.ts';
import { ownBytes } from '../../../../src/support/byte-budget.ts';
import { stillClock } from '../../support/still-clock.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';

/** Histories whose commands are answered, and whose listening connection does as the test says. */
function setUp(fence: () => Promise<void>, listensHere = () => Promise.resolve(true)) {
  const { clock, sleeps } = stillClock();
  let reads = 0;
  const redis = { isAway: false, sequence: 7 };
  const histories = new Histories({
    settings: new Map([['kept', { size: 10, ttlMs: 120_000, keepsAll: false }]]),
    commands: {
      send: async (commands) => {
        if (redis.isAway) throw new Error('the connection is lost');
        reads += 1;
        return commands.map(() => ({ value: ['e', redis.sequence, 0] }));
      },
      transact: () => assert.fail('expected no transaction'),
    },
    listening: { fence },
    missedRoom: ownBytes(1_000),
    names: new BusNames(''),
    clock,
    log: createLog('silent'),
    listensHere,
    lost: () => undefined,
    missed: () => undefined,
    wasRead: () => undefined,
    healed: () => undefined,
  });
  return { histories, redis, sleeps, reads: () => reads };
}

test('what is kept is waited for no longer than 30 s, even if only the listening connection is away', async () => {
  const { histories, sleeps } = setUp(() => new Promise(() => undefined));
  const reading = assert.rejects(histories.read('kept', [], 0, { maxBytes: 0 }), { name: 'NoHistory' });
  await turnsUntil(() => sleeps.length > 0);
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
  await turnsUntil(() => sleeps.length >= 2);
  sleeps[1]?.end();
  assert.deepEqual((await reading).position, { epoch: 'e', sequence: 7 });
});

test('what is kept is not taken from another server than the pod listens to, nor read there again and again', async () => {
  let isHere = false;
  const { histories, sleeps, reads } = setUp(
    () => Promise.resolve(),
    () => Promise.resolve(isHere),
  );
  const reading = histories.read('kept', [], 0, { maxBytes: 0 });
  for (const attempts of [1, 2, 3]) {
    await turnsUntil(() => sleeps.length > attempts);
    assert.deepEqual([reads(), histories.position('kept')], [1, undefined]);
    isHere = attempts === 3;
    sleeps[attempts]?.end();
  }
  await reading;
  assert.deepEqual([reads(), histories.position('kept')], [2, { epoch: 'e', sequence: 7 }]);
});

test('what was missed while the connection was lost is not taken from another server than the pod listens to', async () => {
  let isHere = true;
  const { histories, redis, sleeps } = setUp(
    () => Promise.resolve(),
    () => Promise.resolve(isHere),
  );
  await histories.read('kept', [], 0, { maxBytes: 0 });
  histories.lost();
  isHere = false;
  redis.sequence = 8;
  histories.listens();
  const reading = histories.read('kept', [], 0, { maxBytes: 0 });
  await turnsUntil(() => sleeps.length >= 3);
  assert.deepEqual(histories.position('kept'), { epoch: 'e', sequence: 7 });
  isHere = true;
  redis.sequence = 9;
  // The sleep of 30 s is how long is waited at most.
  for (const { ms, end } of sleeps) if (ms < 30_000) end();
  await reading;
  assert.deepEqual(histories.position('kept'), { epoch: 'e', sequence: 9 });
});

test('a channel that is joined while the connections to Redis are away is joined once it is kept', async () => {
  const { histories, redis, sleeps, reads } = setUp(() => Promise.resolve());
  await histories.read('kept', [], 0, { maxBytes: 0 });
  histories.lost();
  redis.isAway = true;
  let isJoined = false;
  const joining = histories.joined('kept', 'a').then(() => (isJoined = true));
  // It will be kept again by and by.
  await turnsUntil(() => sleeps.length >= 2);
  assert.deepEqual([isJoined, reads()], [false, 1]);
  redis.isAway = false;
  histories.listens();
  await joining;
  assert.equal(reads(), 3, 'what was missed is read, and the channel kept');
});

test('a channel that could not be kept as it was joined is joined once that has been tried again', async () => {
  const { histories, redis, sleeps, reads } = setUp(() => Promise.resolve());
  redis.isAway = true;
  let isJoined = false;
  const joining = histories.joined('kept', 'a').then(() => (isJoined = true));
  await turnsUntil(() => sleeps.length > 0);
  assert.ok(!isJoined);
  redis.isAway = false;
  sleeps[0]?.end();
  await joining;
  assert.deepEqual([reads(), histories.position('kept')], [1, { epoch: 'e', sequence: 7 }]);
});
