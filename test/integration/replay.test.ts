import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startReady, sumOf } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, numbersOf, Received, subscribed, type ItemData } from '../helpers/graphql-client.ts';
import { kafkaProducer } from '../helpers/kafka-client.ts';
import { startRedis } from '../helpers/redis.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const QUERY = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

const test = testNeeding('kafka', 'redis-server');

/** Two pods that serve a topic whose subscriptions begin with the last event of each key. */
async function twoPods(t: TestContext, key = 'id') {
  const redis = await startRedis(t);
  const topic = await createTopic(t);
  const schema = `
      type Subscription { item(id: [ID!]): Item @event(topic: "${topic}", key: "${key}", argument: "id", replay: 1) }
      type Item { id: ID n: Int! of: Owner }
      type Owner { owner_id: ID! }`;
  const GRAPH = await graphFolder(t, { 'schema.graphql': schema });
  const start = () => startReady(t, { GRAPH, ...podSettings(topic, redis.url) });
  const pods = await Promise.all([start(), start()]);
  return { topic, pods, producer: await kafkaProducer(t), watcher: await subscribed(t, pods[0]) };
}

async function beginsWithLast(t: TestContext, key: string, keyed: (id: string) => object): Promise<void> {
  const { topic, pods, producer, watcher } = await twoPods(t, key);
  let n = 0;
  const send = async (...ids: string[]): Promise<void> => {
    for (const id of ids) {
      await producer.send({ topic, messages: [{ value: JSON.stringify({ ...keyed(id), n: (n += 1) }) }] });
    }
    await watcher.until(n);
  };

  await send('7', '8', '8');
  const expected = [
    { ids: ['7', 'quiet'], first: [1] },
    { ids: ['7', '8'], first: [1, 3] },
    { ids: ['8', 'other', 'quiet'], first: [3] },
  ];
  const all = pods.flatMap((pod) =>
    expected.map(({ ids, first }) => {
      const client = graphqlClient(t, pod.graphqlUrl);
      return {
        first,
        ids,
        received: new Received<ItemData>(client, QUERY, { id: ids }),
      };
    }),
  );
  for (const { first, received } of all) {
    await received.until(first.length);
    assert.deepEqual(numbersOf(received), first);
  }
  await send('quiet', '7');
  for (const { first, ids, received } of all) {
    const live = [...(ids.includes('quiet') ? [4] : []), ...(ids.includes('7') ? [5] : [])];
    await received.until(first.length + live.length);
    assert.deepEqual(numbersOf(received), [...first, ...live]);
  }
}

test('on either of two pods a subscription begins with the last event of each of its keys, though some of these were quiet', (t) =>
  beginsWithLast(t, 'id', (id) => ({ id })));

test('on either of two pods so does one whose keys are nested in events', (t) =>
  beginsWithLast(t, 'of.owner_id', (id) => ({ of: { ownerId: id } })));

test('a tombstone leaves what its key had before out of replays on every pod, and nothing out of what a client has missed', async (t) => {
  const { topic, pods, producer, watcher } = await twoPods(t);
  const [, other] = pods;
  let n = 0;
  const send = async (key: string, id: string | null): Promise<void> => {
    const value = id === null ? null : JSON.stringify({ id, n: (n += 1) });
    await producer.send({ topic, messages: [{ key, value, partition: 0 }] });
  };
  const replayed = (ids: readonly string[]) =>
    new Received<ItemData>(graphqlClient(t, other.graphqlUrl), QUERY, { id: ids });

  await send('deleted', '1');
  await send('remade', '2');
  // The last of each are recorded on the other pod before the tombstones come.
  await replayed(['1', '2']).until(2);
  const resuming = new ResumingClient(t, QUERY, { id: ['1', '2'] });
  await resuming.connect(other.graphqlUrl);
  await resuming.until((results) => results.length === 2);
  resuming.cut();
  await send('deleted', '1');
  await send('deleted', null);
  await send('deleted', null);
  await send('remade', null);
  await send('remade', '2');
  await send('marker', '3');
  await watcher.until(5);

  const fresh = replayed(['1', '2', '3']);
  await fresh.until(2);
  assert.deepEqual(numbersOf(fresh), [4, 5]);
  await resuming.connect(other.graphqlUrl);
  await resuming.until((results) => results.length === 4);
  assert.deepEqual(
    [resuming.values('n'), resuming.greetings],
    [
      [1, 2, 3, 4],
      [true, true],
    ],
  );
  await send('deleted', '1');
  await fresh.until(3);
  assert.deepEqual(numbersOf(fresh), [4, 5, 6]);
  const last = replayed(['1', '3']);
  await last.until(2);
  assert.deepEqual(numbersOf(last), [5, 6]);
  assert.equal(await sumOf(pods, 'sluice_tombstones_total'), 3);
});
