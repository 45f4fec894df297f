import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat, type Line } from '../helpers/kcat.ts';
import { testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis', 'kcat');

const PARTITIONS = 6;
const KEYS = 50;
const EVENTS = 2_000;

interface ItemData {
  readonly item: { readonly id: string; readonly n: number };
}

const ITEM = 'subscription ($id: [ID!]) { item(id: $id) { id n } }';

/** @returns what starts a pod, and has it ready */
async function podsOf(t: TestContext, topic: string): Promise<() => Promise<GatewayProcess>> {
  const settings = {
    GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema(topic) }),
    ...podSettings(topic),
  };
  return async () => {
    const pod = await startGateway(t, settings);
    await pod.untilReady();
    return pod;
  };
}

function events(count: number, from = 0): Line[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index;
    const id = n % KEYS;
    return { key: `item-${id}`, value: JSON.stringify({ id, n, sellerName: 'Ann', tags: ['a', 'b'] }) };
  });
}

/** Those of these events that the subscriber of one id must have got. */
function expectedOf(ids: readonly number[]): number[] {
  return Array.from({ length: EVENTS }, (_, n) => n).filter((n) => ids.includes(n % KEYS));
}

function assertOrderedPerKey(numbers: readonly number[]): void {
  const last = new Map<number, number>();
  for (const n of numbers) {
    assert.ok(n > (last.get(n % KEYS) ?? -1), `event ${n} came after ${last.get(n % KEYS)} of the same key`);
    last.set(n % KEYS, n);
  }
}

const numbersOf = (received: Received<ItemData>): number[] =>
  received.data.map((data) => data?.item.n ?? NaN);
const ascending = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

test('two pods of one consumer group: each subscriber gets exactly the events of its channels, in order per key, from either pod', async (t) => {
  const topic = await createTopic(t, { partitions: PARTITIONS });
  const start = await podsOf(t, topic);
  const pods = await Promise.all([start(), start()]);
  // The first has all of them until the other one joins.
  const share = PARTITIONS / pods.length;
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_partitions_assigned', share)));
  const subscribers = pods.flatMap((pod) => {
    const client = graphqlClient(t, pod.graphqlUrl);
    return [[7], [7], [8], [9, 10, 11], undefined].map((ids) => ({
      ids,
      received: new Received<ItemData>(client, ITEM, ids === undefined ? {} : { id: ids }),
    }));
  });
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 5)));

  await kcat(t, topic, events(EVENTS));

  for (const { ids, received } of subscribers) {
    const expected = ids === undefined ? expectedOf([...Array(KEYS).keys()]) : expectedOf(ids);
    await received.until(expected.length);
    const numbers = numbersOf(received);
    assert.deepEqual(ascending(numbers), expected);
    assertOrderedPerKey(numbers);
  }
  const consumed = await Promise.all(pods.map((pod) => pod.metric('sluice_events_total')));
  assert.equal(
    consumed.reduce((sum, count) => sum + count, 0),
    EVENTS,
  );
  assert.ok(
    consumed.every((count) => count > 0),
    `both pods consume: ${consumed.join(' and ')}`,
  );
  for (const { received } of subscribers) received.stop();
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 0)));
  for (const pod of pods) assert.equal(await pod.stop(), 0);
});

test('while pods join and leave in the middle of a stream, no event is lost, and none is delivered twice', async (t) => {
  const topic = await createTopic(t, { partitions: PARTITIONS });
  const start = await podsOf(t, topic);
  const [serving, leaving] = await Promise.all([start(), start()]);
  const received = new Received<ItemData>(graphqlClient(t, serving.graphqlUrl), ITEM);
  await serving.untilMetric('sluice_subscribers', 1);

  const slice = EVENTS / 4;
  await kcat(t, topic, events(slice));
  // The stream goes on while one pod joins the consumer group and another one leaves: two rebalances in mid-batch.
  await Promise.all([start(), kcat(t, topic, events(slice, slice))]);
  const [code] = await Promise.all([leaving.stop(), kcat(t, topic, events(slice, 2 * slice))]);
  assert.equal(code, 0);
  await kcat(t, topic, events(slice, 3 * slice));

  await received.until(EVENTS);
  const numbers = numbersOf(received);
  assert.deepEqual(ascending(numbers), expectedOf([...Array(KEYS).keys()]));
  assertOrderedPerKey(numbers);
});

test('a subscriber gets an event once whose list of keys matches two of its channels', async (t) => {
  const topic = await createTopic(t);
  const pod = await (await podsOf(t, topic))();
  const received = new Received<ItemData>(
    graphqlClient(t, pod.graphqlUrl),
    'subscription { item(id: [1, 2, 3]) { n } }',
  );
  await pod.untilMetric('sluice_subscribers', 1);
  await kcat(t, topic, [
    { value: JSON.stringify({ id: [1, 2, 2, 99], n: 1 }) },
    { value: JSON.stringify({ id: [98, 99], n: 2 }) },
    { value: JSON.stringify({ id: 3, n: 3 }) },
  ]);
  await received.until(2);
  assert.deepEqual(numbersOf(received), [1, 3]);
  await pod.untilMetric('sluice_deliveries_total', 2);
});
