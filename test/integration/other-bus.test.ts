import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startGateway, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { assertAllCame, sendItems, subscribers } from './all-came.ts';

const test = testNeeding('kafka', 'redis', 'kcat', 'redis-server');

const PARTITIONS = 6;
const CLIENTS = 100;
const EVENTS = 100;

/** Two pods with a hundred subscribers each, and settings of a third one that are theirs but for the Redis. */
async function environments(t: TestContext, { partitions = PARTITIONS } = {}) {
  const topic = await createTopic(t, { partitions });
  const GRAPH = await itemGraph(t, topic);
  const [ours, theirs] = await Promise.all([startRedis(t), startRedis(t)]);
  const settings = { GRAPH, ...podSettings(topic, ours.url) };
  const pods = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_partitions_assigned', partitions / 2)));
  const received = (await Promise.all(pods.map((pod) => subscribers(t, pod, CLIENTS)))).flat();
  return { topic, settings, pods, received, ours, theirs, key: `${topic}:@bus` };
}

test('a gateway of another environment, with the same group and another Redis, takes no events: it does not join, and says why', async (t) => {
  const { topic, settings, pods, received, theirs } = await environments(t);
  const other = await startGateway(t, { ...settings, REDIS_URL: theirs.url });
  // Once it has looked at the group, or has joined it.
  await other.untilLog(/consumer group/);
  await sendItems(t, topic, 0, EVENTS);
  await assertAllCame(t, received, EVENTS);
  await other.untilNotReady(
    /expected members of .+, got those of bus [\w-]{36}; set another KAFKA_GROUP_ID, or BUS_ID=[\w-]{36}/,
  );
  await other.untilLog(/the consumer group is not joined/);
  assert.equal(await other.metric('sluice_foreign_positions{bus="other"}'), PARTITIONS);
  for (const pod of pods) await pod.untilReady();
});

test('pods move to another Redis with the BUS_ID of those that run, or when all have stopped', async (t) => {
  const { topic, settings, pods, received, ours, theirs, key } = await environments(t);
  const BUS_ID = (await (await redisAdmin(t, ours)).get(key)) ?? '';
  for (const one of received) one.stop();
  const moved = await startReady(t, { ...settings, REDIS_URL: theirs.url, BUS_ID });
  for (const pod of pods) assert.equal(await pod.stop(), 0);
  await moved.untilMetric('sluice_partitions_assigned', PARTITIONS);
  assert.equal(await moved.stop(), 0);
  const last = await startReady(t, { ...settings, REDIS_URL: theirs.url });
  await last.untilLog(/the consumer group is joined for this bus/);
  const clients = await subscribers(t, last, CLIENTS);
  await sendItems(t, topic, 0, EVENTS);
  await assertAllCame(t, clients, EVENTS);
});
