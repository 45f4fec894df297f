import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RedisBus } from '../../../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../../../src/log.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { FakeRedis } from './fake-redis.ts';

const BEAT_MS = 1_000;

/** A bus that is started; its Redis is yet to be connected. Time stands still until `wake` and `beat`. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const redis = new FakeRedis();
  const metrics = new Metrics();
  const sleeping: (() => void)[] = [];
  const bus = new RedisBus({
    ...redis,
    commands: redis.commands,
    listening: redis.listening,
    prefix: '',
    lingerMs: 0,
    countsSubscribers: true,
    metrics,
    log: createLog('silent'),
    clock: {
      now: () => 0,
      sleep: (_ms, signal) =>
        new Promise<void>((resolve) => {
          sleeping.push(resolve);
          signal.addEventListener('abort', () => resolve());
        }),
      random: Math.random,
    },
    timing: { beatMs: BEAT_MS, silenceMs: 4_000, settleMs: 1_500 },
  });
  const gaps: string[] = [];
  bus.onGap((topic) => gaps.push(topic));
  t.after(() => bus.stop());
  return {
    redis,
    bus,
    gaps,
    connected: async () => {
      const { values } = await metrics.busConnected.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.connection, value]));
    },
    /** All sleeps end. */
    wake: async () => {
      for (const resolve of sleeping.splice(0)) resolve();
      await setImmediate();
    },
    beat: async () => {
      t.mock.timers.tick(BEAT_MS);
      await setImmediate();
    },
    join: (topic: string) => bus.subscribe(topic, topic, () => undefined).ready,
  };
}

test('the gauge of a connection is 1 while it can be used', async (t) => {
  const { redis, bus, connected, wake } = setUp(t);
  assert.deepEqual(await connected(), { publishing: 0, listening: 0 });
  bus.start();
  redis.listening.connect();
  assert.deepEqual(await connected(), { publishing: 0, listening: 1 });
  redis.commands.connect();
  await setImmediate();
  assert.deepEqual(await connected(), { publishing: 1, listening: 1 });
  redis.commands.lose();
  redis.listening.lose();
  assert.deepEqual(await connected(), { publishing: 0, listening: 0 });
  redis.commands.connect();
  await setImmediate();
  assert.deepEqual(await connected(), { publishing: 0, listening: 0 }, 'while others are given time');
  await wake();
  assert.deepEqual(await connected(), { publishing: 1, listening: 0 });
});
