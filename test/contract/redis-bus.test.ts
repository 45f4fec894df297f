import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { needs, redisUrl, testNeeding } from '../helpers/services.ts';
import { testBus } from './bus.ts';
import { startBus } from './redis-buses.ts';

const test = testNeeding('redis', 'redis-server');

const reached = async (t: TestContext, url: string, countsSubscribers = true): Promise<Bus> =>
  (await startBus(t, { url }, { countsSubscribers })).bus;

test('redis: the bus of one pod names the channels that another pod is subscribed to', async (t) => {
  const [asking, other] = [await reached(t, redisUrl()), await reached(t, redisUrl())];
  const channel = `bus-pods-${process.pid}-${Date.now()}`;
  await other.subscribe('topic', channel, () => undefined).ready;
  assert.deepEqual(await asking.subscribed('topic', [channel, `${channel}-2`]), new Set([channel]));
});

test('redis: a bus that is set not to ask Redis names all channels', async (t) => {
  const bus = await reached(t, redisUrl(), false);
  assert.deepEqual(await bus.subscribed('topic', ['a', 'b']), new Set(['a', 'b']));
});

test('redis: when Redis refuses the command, the bus names all channels', async (t) => {
  const server = await startRedis(t);
  const admin = await redisAdmin(t, server);
  await admin.acl('SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-pubsub');
  const bus = await reached(t, `redis://mute:secret@127.0.0.1:${server.port}`);
  assert.deepEqual(await bus.subscribed('topic', ['a', 'b']), new Set(['a', 'b']));
  assert.deepEqual(await bus.subscribed('topic', ['c']), new Set(['c']));
});

test('redis: while Redis is away, asking for subscribers fails like publishing', async (t) => {
  const server = await startRedis(t);
  const bus = await reached(t, server.url);
  await server.stop('SIGKILL');
  await assert.rejects(bus.subscribed('topic', ['a']));
});

testBus('redis', needs('redis'), async (t, settings) => {
  const url = redisUrl();
  const observer = await redisAdmin(t, { url });
  const joins = async (channel: string) => Number((await observer.pubsub('NUMSUB', channel))[1]);
  return { ...(await startBus(t, { url }, settings)), joins };
});
