import assert from 'node:assert/strict';
import { Places } from '../../src/bus/redis/cluster/places.ts';
import { startCluster, type RedisCluster } from '../helpers/redis-cluster.ts';
import { testNeeding } from '../helpers/services.ts';
import { streamThroughFault } from './redis-fault-stream.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

/** More than all events of the test. */
const HISTORY = '{ size: 5000, ttl_seconds: 600 }';

interface Topic {
  readonly history: string;
  readonly isSpread: boolean;
}

const TOPICS = {
  'a topic without history': { history: 'null', isSpread: false },
  'a topic with history': { history: HISTORY, isSpread: false },
  'a topic that is spread': { history: 'null', isSpread: true },
} as const satisfies Record<string, Topic>;

/** What two pods on the cluster are started with, and the word of a slot of their topic. */
function streamOn(cluster: RedisCluster, { history, isSpread }: Topic) {
  return {
    history,
    redis: (_pod: number, topic: string) => ({
      REDIS_CLUSTER: cluster.nodes.join(','),
      ...(isSpread && { REDIS_CLUSTER_SPREAD: topic }),
    }),
    wordOf: (topic: string) => new Places('', new Set(isSpread ? [topic] : [])).wordsOf(topic)[0] ?? '',
  };
}

// With history it is so while a slot moves: see below.
for (const name of ['a topic without history', 'a topic that is spread'] as const) {
  test(`two pods, ${name} and a cluster of three masters: each subscriber gets exactly its own events, in order per key`, async (t) => {
    const cluster = await startCluster(t);
    const { missing, gaps } = await streamThroughFault(t, streamOn(cluster, TOPICS[name]));
    assert.deepEqual({ missing, gaps }, { missing: 0, gaps: 0 });
  });
}

for (const [name, topic] of Object.entries(TOPICS)) {
  test(`two pods and ${name}, of which a slot moves in mid-stream: what is missing is told and counted`, async (t) => {
    const cluster = await startCluster(t);
    const { wordOf, ...options } = streamOn(cluster, topic);
    const happen = (own: string) => cluster.move(wordOf(own));
    const { missing, gaps } = await streamThroughFault(t, { ...options, happen });
    t.diagnostic(`${missing} deliveries missing, ${gaps} gaps told`);
    if (topic.history !== 'null') assert.deepEqual({ missing, gaps }, { missing: 0, gaps: 0 });
  });

  test(`two pods and ${name}, whose master is killed in mid-stream: what is sent afterwards comes late, and what is missing is told and counted`, async (t) => {
    const cluster = await startCluster(t, { replicas: 1 });
    const { wordOf, ...options } = streamOn(cluster, topic);
    const happen = async (own: string): Promise<void> => {
      const master = await cluster.masterOf(wordOf(own));
      await master.stop('SIGKILL');
      await cluster.replaced(wordOf(own), master);
    };
    const stream = await streamThroughFault(t, { ...options, happen });
    t.diagnostic(`${stream.missing} deliveries missing, ${stream.gaps} gaps told`);
    assert.equal(stream.missingOfLater, 0);
  });
}
