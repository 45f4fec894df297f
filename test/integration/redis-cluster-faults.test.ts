import assert from 'node:assert/strict';
import test from 'node:test';
import { startCluster, type RedisCluster } from '../helpers/redis-cluster.ts';
import { needs } from '../helpers/services.ts';
import { streamThroughFault } from './redis-fault-stream.ts';

const OPTIONS = needs('kafka', 'kcat', 'redis-server');

/** More than all events of the test. */
const HISTORY = '{ size: 5000, ttl_seconds: 600 }';

const redisOf = (cluster: RedisCluster) => () => ({ REDIS_CLUSTER: cluster.nodes.join(',') });

async function killMaster(cluster: RedisCluster, topic: string): Promise<void> {
  const master = await cluster.masterOf(topic);
  await master.stop('SIGKILL');
  await cluster.replaced(topic, master);
}

test(
  'two pods on a cluster of three masters: each subscriber gets exactly its own events, in order per key',
  OPTIONS,
  async (t) => {
    const cluster = await startCluster(t);
    const { missing, gaps } = await streamThroughFault(t, { redis: redisOf(cluster) });
    assert.deepEqual({ missing, gaps }, { missing: 0, gaps: 0 });
  },
);

for (const history of ['null', HISTORY]) {
  const what = history === 'null' ? 'without' : 'with';
  test(
    `two pods and a topic ${what} history whose slot moves in mid-stream: what is missing is told and counted`,
    OPTIONS,
    async (t) => {
      const cluster = await startCluster(t);
      const happen = (topic: string) => cluster.move(topic);
      const { missing, gaps } = await streamThroughFault(t, { redis: redisOf(cluster), history, happen });
      t.diagnostic(`${missing} deliveries missing, ${gaps} gaps told`);
      if (history !== 'null') assert.deepEqual({ missing, gaps }, { missing: 0, gaps: 0 });
    },
  );

  test(
    `two pods and a topic ${what} history whose master is killed in mid-stream: what is sent afterwards comes late, and what is missing is told and counted`,
    OPTIONS,
    async (t) => {
      const cluster = await startCluster(t, { replicas: 1 });
      const happen = (topic: string) => killMaster(cluster, topic);
      const stream = await streamThroughFault(t, { redis: redisOf(cluster), history, happen });
      t.diagnostic(`${stream.missing} deliveries missing, ${stream.gaps} gaps told`);
      assert.equal(stream.missingOfLater, 0);
    },
  );
}
