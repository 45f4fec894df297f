import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import type { Bus } from '../../src/bus/bus.ts';
import { ioredisBus } from '../../src/bus/redis/ioredis-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';
import { startRedis } from '../helpers/redis.ts';
import { needs, testNeeding, redisUrl } from '../helpers/services.ts';
import { testBus } from './bus.ts';

const test = testNeeding('redis', 'redis-server');

const SILENT = { prefix: 'contract:', lingerMs: 60_000, log: createLog('silent') };

/** A bus that has reached Redis. */
async function startBus(
  t: TestContext,
  { url, countsSubscribers }: { url: string; countsSubscribers: boolean },
): Promise<Bus> {
  const bus = ioredisBus({ ...SILENT, access: { url }, countsSubscribers, metrics: new Metrics() });
  bus.start();
  t.after(() => bus.stop());
  await eventually(() => assert.equal(bus.notReady(), undefined));
  return bus;
}

test('redis: the bus of one pod names the channels that another pod is subscribed to', async (t) => {
  const options = { url: redisUrl(), countsSubscribers: true };
  const [asking, other] = [await startBus(t, options), await startBus(t, options)];
  const channel = `bus-pods-${process.pid}-${Date.now()}`;
  await other.subscribe('topic', channel, () => undefined).ready;
  assert.deepEqual(await asking.subscribed('topic', [channel, `${channel}-2`]), new Set([channel]));
});

test('redis: a bus that is set not to ask Redis names all channels', async (t) => {
  const bus = await startBus(t, { url: redisUrl(), countsSubscribers: false });
  assert.deepEqual(await bus.subscribed('topic', ['a', 'b']), new Set(['a', 'b']));
});

test('redis: when Redis refuses the command, the bus names all channels', async (t) => {
  const server = await startRedis(t);
  const admin = new Redis(server.url);
  t.after(() => admin.disconnect());
  await admin.acl('SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-pubsub');
  const url = `redis://mute:secret@127.0.0.1:${server.port}`;
  const bus = await startBus(t, { url, countsSubscribers: true });
  assert.deepEqual(await bus.subscribed('topic', ['a', 'b']), new Set(['a', 'b']));
  assert.deepEqual(await bus.subscribed('topic', ['c']), new Set(['c']));
});

test('redis: while Redis is away, asking for subscribers fails like publishing', async (t) => {
  const server = await startRedis(t);
  const bus = await startBus(t, { url: server.url, countsSubscribers: true });
  await server.stop('SIGKILL');
  await assert.rejects(bus.subscribed('topic', ['a']));
});

testBus('redis', needs('redis'), async (t, { lingerMs, maxChannels }) => {
  const url = redisUrl();
  const metrics = new Metrics();
  const bus = ioredisBus({
    access: { url },
    lingerMs,
    maxChannels,
    prefix: 'contract:',
    countsSubscribers: true,
    metrics,
    log: createLog('silent'),
  });
  const observer = new Redis(url);
  bus.start();
  t.after(async () => {
    await bus.stop();
    observer.disconnect();
  });
  await eventually(() => assert.equal(bus.notReady(), undefined));
  const joins = async (channel: string): Promise<number> => {
    const reply = await observer.pubsub('NUMSUB', channel);
    return Number(reply[1]);
  };
  return { bus, metrics, joins };
});
