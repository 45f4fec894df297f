import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Places } from '../../src/bus/redis/cluster/places.ts';
import { startCluster, type RedisCluster } from '../helpers/redis-cluster.ts';
import { testNeeding } from '../helpers/services.ts';
import { accountOf, HISTORY, SEVERAL_KEYS, type Stream } from './delivery-account.ts';
import { testRefusedLogin } from './redis-refused-login.ts';

const test = testNeeding('kafka', 'redis-server');

const TOPICS = {
  'a topic without history': { history: 'null', isSpread: false },
  'a topic with history': { history: HISTORY, isSpread: false },
  'a topic that is spread': { history: 'null', isSpread: true },
} as const;

/** @param happen is given the word of a slot of the topic */
function accountOn(
  t: TestContext,
  cluster: RedisCluster,
  { history, isSpread }: (typeof TOPICS)[keyof typeof TOPICS],
  happen: (word: string) => Promise<unknown> = () => Promise.resolve(),
) {
  const redis = (_pod: number, topic: string) => ({
    REDIS_CLUSTER: cluster.nodes.join(','),
    ...(isSpread && { REDIS_CLUSTER_SPREAD: topic }),
  });
  const wordOf = ({ topic }: Stream) =>
    new Places('', new Set(isSpread ? [topic] : [])).wordsOf(topic)[0] ?? '';
  return accountOf(t, { ...SEVERAL_KEYS, history, redis }, (stream) => happen(wordOf(stream)));
}

// With history it is so while a slot moves: see below.
for (const name of ['a topic without history', 'a topic that is spread'] as const) {
  test(`two pods, ${name} and a cluster of three masters: each subscriber gets exactly its own events, in order per key`, async (t) => {
    const { delivered, owed, gaps } = await accountOn(t, await startCluster(t), TOPICS[name]);
    assert.deepEqual([delivered, gaps], [owed, 0]);
  });
}

for (const [name, topic] of Object.entries(TOPICS)) {
  test(`two pods and ${name}, of which a slot moves in mid-stream: what is missing is told and counted`, async (t) => {
    const cluster = await startCluster(t);
    const { delivered, owed, gaps } = await accountOn(t, cluster, topic, cluster.move);
    if (topic.history !== 'null') assert.deepEqual([delivered, gaps], [owed, 0]);
  });

  test(`two pods and ${name}, whose master is killed in mid-stream: what is sent afterwards comes late, and what is missing is told and counted`, async (t) => {
    const cluster = await startCluster(t, { replicas: 1 });
    let began = Infinity;
    const account = await accountOn(t, cluster, topic, async (word) => {
      const master = await cluster.masterOf(word);
      began = Date.now();
      await master.stop('SIGKILL');
      await cluster.replaced(word, master);
    });
    assert.deepEqual(
      account.toldOf.filter((at) => at > began),
      [],
    );
  });
}

testRefusedLogin('a Redis Cluster', async (t) => {
  const { nodes, clients } = await startCluster(t);
  return { settings: { REDIS_CLUSTER: nodes.join(',') }, clients };
});
