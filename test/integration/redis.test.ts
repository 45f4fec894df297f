import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { startRedis } from '../helpers/redis.ts';
import { needs, redisUrl } from '../helpers/services.ts';

test('The Redis that npm test started answers', needs('redis'), async (t) => {
  const client = new Redis(redisUrl());
  t.after(() => client.disconnect());
  assert.equal(await client.ping(), 'PONG');
});

test(
  'A Redis server of a test stops and comes back under the same address',
  needs('redis-server'),
  async (t) => {
    const server = await startRedis(t);
    const client = new Redis(server.url, { retryStrategy: () => null });
    t.after(() => client.disconnect());
    assert.equal(await client.ping(), 'PONG');

    const lost = once(client, 'end');
    await server.stop();
    await lost;
    const late = new Redis(server.url, { lazyConnect: true, retryStrategy: () => null });
    late.on('error', () => {});
    await assert.rejects(late.connect());

    await server.start();
    await client.connect();
    assert.equal(await client.ping(), 'PONG');
  },
);
