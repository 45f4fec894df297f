import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Places } from '../../src/bus/redis/cluster/places.ts';
import { startCluster, type RedisCluster } from '../helpers/redis-cluster.ts';
import { startReady } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { subscribed } from '../helpers/graphql-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range } from '../helpers/numbers.ts';
import { kafkaBrokers, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { accountOf, HISTORY, SEVERAL_KEYS } from './delivery-account.ts';
import { testRefusedLogin } from './redis-refused-login.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

const TOPICS = {
  'a topic without history': { history: 'null', isSpread: false },
  'a topic with history': { history: HISTORY, isSpread: false },
  'a topic that is spread': { history: 'null', isSpread: true },
} as const;

/** Returns the word of a slot of the topic. */
const wordOf = (topic: string, isSpread = false): string =>
  new Places('', new Set(isSpread ? [topic] : [])).wordsOf(topic)[0] ?? '';

/** @param happen is given the word of a slot of the topic */
function accountOn(
  t: TestContext,
  cluster: RedisCluster,
  { history, isSpread }: (typeof TOPICS)[keyof typeof TOPICS],
  happen: (word: string) => Promise<unknown>,
) {
  const redis = (_pod: number, topic: string) => ({
    REDIS_CLUSTER: cluster.nodes.join(','),
    ...(isSpread && { REDIS_CLUSTER_SPREAD: topic }),
  });
  return accountOf(t, { ...SEVERAL_KEYS, history, redis }, ({ topic }) => happen(wordOf(topic, isSpread)));
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

test('while the master of one topic stands still, events of topics of other masters go on, and come in time', async (t) => {
  const cluster = await startCluster(t);
  for (const client of cluster.clients)
    await client.call('CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
  const frozen = await createTopic(t);
  const master = await cluster.masterOf(wordOf(frozen));
  let other = await createTopic(t);
  while ((await cluster.masterOf(wordOf(other))) === master) other = await createTopic(t);
  const gateway = await startReady(t, {
    GRAPH: await graphFolder(t, {
      'schema.graphql': `
        type Subscription { frozen: Item @event(topic: "${frozen}") other: Item @event(topic: "${other}") }
        type Item { n: Int }`,
    }),
    KAFKA_BROKERS: kafkaBrokers(),
    KAFKA_GROUP_ID: frozen,
    REDIS_CLUSTER: cluster.nodes.join(','),
    // The master may stand still for longer than the pod waits for it.
    ON_GAP: 'ignore',
  });
  const ofFrozen = await subscribed<Record<string, { n: number }>>(t, gateway, {
    query: 'subscription { frozen { n } }',
  });
  const ofOther = await subscribed<Record<string, { n: number }>>(t, gateway, {
    query: 'subscription { other { n } }',
  });
  const numbersOf = ({ data }: typeof ofFrozen) => data.map((one) => Object.values(one ?? {})[0]?.n);
  const send = async (topic: string, from: number, to: number) => kcat(t, topic, itemLines(range(from, to)));
  for (const topic of [frozen, other]) await send(topic, 0, 1);
  await Promise.all([ofFrozen.until(1), ofOther.until(1)]);

  master.signal('SIGSTOP');
  await send(frozen, 1, 3);
  await gateway.untilLog(/events were not taken/);
  for (let n = 1; n < 20; n += 1) {
    await send(other, n, n + 1);
    await ofOther.until(n + 1);
  }
  assert.deepEqual(numbersOf(ofFrozen), [0]);
  master.signal('SIGCONT');
  await ofFrozen.until(3);
  assert.deepEqual([numbersOf(ofFrozen), numbersOf(ofOther)], [range(0, 3), range(0, 20)]);
});

testRefusedLogin('a Redis Cluster', async (t) => {
  const { nodes, clients } = await startCluster(t);
  return { settings: { REDIS_CLUSTER: nodes.join(',') }, clients };
});
