import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Redis } from 'ioredis';
import type { Bus } from '../../src/bus/bus.ts';
import { Inbox } from '../helpers/inbox.ts';
import { range } from '../helpers/numbers.ts';
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

test('redis: where Redis permits no scripts, an event reaches all of its channels as well', async (t) => {
  const server = await startRedis(t);
  const admin = await redisAdmin(t, server);
  await admin.acl('SETUSER', 'plain', 'on', '>secret', '~*', '&*', '+@all', '-eval');
  const bus = await reached(t, `redis://plain:secret@127.0.0.1:${server.port}`);
  const inbox = new Inbox();
  const channels = range(0, 100).map((n) => `c${n}`);
  for (const channel of channels) await bus.subscribe('topic', channel, inbox.take).ready;
  const payload = 'x'.repeat(10_000);
  const events = channels.map((channel) => ({ channel, payload }));
  await bus.publish('topic', events);
  await inbox.until(channels.length);
  const [allowed, refused] = [await callsOf(admin, 'publish'), await callsOf(admin, 'eval')];
  assert.ok(allowed >= channels.length, `${allowed}`);
  assert.equal(refused, 0);
});

/** How often Redis has run a command. */
async function callsOf(admin: Redis, command: string): Promise<number> {
  const [, calls = '0'] =
    new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await admin.info('commandstats')) ?? [];
  return Number(calls);
}

test('redis: while Redis is away, asking for subscribers fails like publishing', async (t) => {
  const server = await startRedis(t);
  const bus = await reached(t, server.url);
  await server.stop('SIGKILL');
  await assert.rejects(bus.subscribed('topic', ['a']));
});

test('redis: pods of one Redis and prefix have one id, which they keep, and those of another prefix have another', async (t) => {
  const server = await startRedis(t);
  const [first, second] = [await reached(t, server.url), await reached(t, server.url)];
  const { bus: other } = await startBus(t, { url: server.url }, { prefix: 'staging:' });
  assert.equal(await first.id(), undefined);
  assert.equal(await first.id('a'), 'a');
  assert.deepEqual([await second.id('b'), await second.id(), await other.id('c')], ['a', 'a', 'c']);
  const admin = await redisAdmin(t, server);
  await admin.set('staging:@bus', 'no id');
  await assert.rejects(other.id(), /staging:@bus: expected 1 to 64 letters, .*, got no id/);
});

test('redis: where Redis does not permit to keep an id, or takes no writes, the bus has none', async (t) => {
  const server = await startRedis(t);
  const admin = await redisAdmin(t, server);
  await admin.acl('SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-set');
  const mute = await reached(t, `redis://mute:secret@127.0.0.1:${server.port}`);
  assert.equal(await mute.id('a'), undefined);
  const bus = await reached(t, server.url);
  await admin.config('SET', 'maxmemory', '1');
  assert.equal(await bus.id('a'), undefined);
});

testBus('redis', needs('redis'), async (t, settings) => {
  const url = redisUrl();
  const observer = await redisAdmin(t, { url });
  const joins = async (channel: string) => Number((await observer.pubsub('NUMSUB', channel))[1]);
  return { ...(await startBus(t, { url }, settings)), joins };
});
