import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { testNeeding } from '../helpers/services.ts';
import { publish, quiet, startPod, TOPIC } from './redis-fault-pods.ts';

const test = testNeeding('redis-server');

test('redis: a half-open connection is noticed, and what was missed on it told', async (t) => {
  const server = await startRedis(t);
  const [a, b] = [await startPod(t, server), await startPod(t, server)];
  await quiet(await redisAdmin(t, server), a, b);
  b.relay.freeze();
  await publish(a, ['missed']);
  await eventually(() => assert.deepEqual(b.gaps, [TOPIC]));
  await publish(a, ['heard']);
  await eventually(() => assert.deepEqual(b.heard, ['heard']));
});

test('redis: a connection that becomes half open while it is made is made again', async (t) => {
  const server = await startRedis(t);
  const [a, b] = [await startPod(t, server), await startPod(t, server)];
  await quiet(await redisAdmin(t, server), a, b);
  b.relay.stall();
  b.relay.cut();
  await b.relay.stalled(2);
  b.relay.flow();
  await eventually(async () => {
    await publish(a, ['heard']);
    assert.equal(b.heard.at(-1), 'heard');
  });
});
