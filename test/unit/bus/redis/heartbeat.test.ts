import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { GapDetector } from '../../../../src/bus/redis/gap-detector.ts';
import { Heartbeat } from '../../../../src/bus/redis/heartbeat.ts';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { createLog } from '../../../../src/log.ts';
import { FakeRedis } from './fake-redis.ts';

const ignore = (): void => undefined;

const unused = (): Promise<never> => Promise.reject(new Error('expected no heartbeat'));

/** A heartbeat that has been started, and sends nothing by itself. */
function setUp(t: TestContext, countsReceivers: boolean) {
  const redis = new FakeRedis();
  const names = new BusNames('');
  const heartbeat = new Heartbeat({
    commands: redis.commands,
    listening: redis.listening,
    publishing: { canProbe: false, probe: unused, initialise: unused, othersListen: unused },
    gaps: new GapDetector(() => 0),
    certainty: { heard: ignore, confirm: ignore, doubt: ignore },
    countsReceivers,
    names,
    pod: 'one',
    own: { join: unused },
    refused: { level: 'warn', message: '', act: ignore },
    timing: { beatMs: 20, silenceMs: 4_000, deafMs: 15_000, settleMs: 1_500 },
    log: createLog('silent'),
    deaf: ignore,
  });
  redis.commands.connect();
  redis.listening.connect();
  void redis.listening.join(names.podChannel('one'), (payload) => heartbeat.heard(payload.toString()));
  heartbeat.start();
  t.after(() => heartbeat.stop());
  return { heartbeat, redis };
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
