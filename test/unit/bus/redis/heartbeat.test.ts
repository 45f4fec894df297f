import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { GapDetector } from '../../../../src/bus/redis/gap-detector.ts';
import { Heartbeat } from '../../../../src/bus/redis/heartbeat.ts';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { createLog } from '../../../../src/log.ts';
import { turns } from '../../hub/parts.ts';
import { stillClock } from '../../support/still-clock.ts';
import { FakeRedis } from './fake-redis.ts';

const ignore = (): void => undefined;

const unused = (): Promise<never> => Promise.reject(new Error('expected no call'));

/** A heartbeat that has been started. Redis takes its messages, and counts no receivers. */
function setUp(t: TestContext, countsReceivers: boolean) {
  const redis = new FakeRedis();
  const names = new BusNames('');
  const { clock, wakeAll } = stillClock();
  const doubt = t.mock.fn();
  const heartbeat = new Heartbeat({
    commands: redis.commands,
    listening: redis.listening,
    publishing: {
      canProbe: true,
      probe: async (_topics, channel, message) => {
        redis.listening.deliver(channel, message);
        return { versions: new Map(), receivers: 0, replicationId: 'a' };
      },
      initialise: async () => undefined,
      othersListen: unused,
    },
    gaps: new GapDetector(() => 0),
    certainty: { heard: ignore, confirm: ignore, doubt },
    countsReceivers,
    names,
    pod: 'one',
    own: { join: ignore as never },
    refused: { level: 'warn', message: '', act: ignore },
    timing: { beatMs: 20, silenceMs: 4_000, deafMs: 15_000, settleMs: 1_500 },
    clock,
    log: createLog('silent'),
    deaf: ignore,
  });
  redis.commands.connect();
  redis.listening.connect();
  void redis.listening.join(names.podChannel('one'), (payload) => heartbeat.heard(payload.toString()));
  t.mock.timers.enable({ apis: ['setInterval'] });
  heartbeat.start();
  t.after(() => heartbeat.stop());
  return { heartbeat, redis, doubt, wakeAll };
}

for (const countsReceivers of [true, false]) {
  const where = countsReceivers ? 'receivers are counted' : 'a proxy does not count receivers';
  test(`where ${where}, a pod listens where it publishes if it hears what it sends itself`, async (t) => {
    const { heartbeat, redis } = setUp(t, countsReceivers);
    assert.equal(await heartbeat.listensHere(), true);
    redis.listening.isDeaf = true;
    assert.equal(await heartbeat.listensHere(), false);
  });
}

test('through a proxy, a pod waits for what it sends itself, which comes behind the answer of its server', async (t) => {
  const { heartbeat, redis } = setUp(t, false);
  t.mock.method(redis.listening, 'deliver', (_channel: string, payload: string) => {
    setImmediate(() => heartbeat.heard(payload));
    return 0;
  });
  assert.equal(await heartbeat.listensHere(), true);
});

for (const [what, isDeaf, reconnects] of [
  ['hears itself, goes on', false, 0],
  ['does not hear itself, connects again', true, 1],
] as const)
  test(`through a proxy, a pod whose server answers, and which ${what}`, async (t) => {
    const { heartbeat, redis, doubt, wakeAll } = setUp(t, false);
    redis.listening.isDeaf = isDeaf;
    heartbeat.connected();
    await turns(3);
    assert.equal(redis.listening.reconnects, 0, 'the message may still come');
    wakeAll();
    await turns(1);
    assert.deepEqual([redis.listening.reconnects, doubt.mock.callCount()], [reconnects, reconnects]);
  });
