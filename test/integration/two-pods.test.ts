import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { graphqlClient, numbersOf, Received, subscribed, type ItemData } from '../helpers/graphql-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range, sorted } from '../helpers/numbers.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis', 'kcat');

const PARTITIONS = 6;
const KEYS = 50;
const EVENTS = 2_000;

const ITEM = 'subscription ($id: [ID!]) { item(id: $id) { id n } }';

/** @returns what starts a pod, and has it ready */
async function podsOf(t: TestContext, topic: string): Promise<() => Promise<GatewayProcess>> {
  const settings = { GRAPH: await itemGraph(t, topic), ...podSettings(topic) };
  return () => startReady(t, settings);
}

const events = (from: number, to: number) => itemLines(range(from, to), (n) => n % KEYS);

/** Returns the events that the subscriber of some ids must have got; undefined: of all. */
const expectedOf = (ids: readonly number[] = range(0, KEYS)) =>
  range(0, EVENTS).filter((n) => ids.includes(n % KEYS));

/** Each of these, and in order per key. */
function assertGot(received: Received<ItemData>, expected: readonly number[]): void {
  const numbers = numbersOf(received);
  assert.deepEqual(sorted(numbers), expected);
  const last = new Map<number, number>();
  for (const n of numbers) {
    assert.ok(n > (last.get(n % KEYS) ?? -1), `event ${n} came after ${last.get(n % KEYS)} of the same key`);
    last.set(n % KEYS, n);
  }
}

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

  await kcat(t, topic, events(0, EVENTS));

  for (const { ids, received } of subscribers) {
    const expected = expectedOf(ids);
    await received.until(expected.length);
    assertGot(received, expected);
  }
  const consumed = await Promise.all(pods.map((pod) => pod.metric('sluice_events_total')));
  assert.equal((consumed[0] ?? 0) + (consumed[1] ?? 0), EVENTS);
  assert.ok(Math.min(...consumed) > 0, `both pods consume: ${consumed.join(' and ')}`);
  for (const { received } of subscribers) received.stop();
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 0)));
  for (const pod of pods) assert.equal(await pod.stop(), 0);
});

test('while pods join and leave in the middle of a stream, no event is lost, and none is delivered twice', async (t) => {
  const topic = await createTopic(t, { partitions: PARTITIONS });
  const start = await podsOf(t, topic);
  const [serving, leaving] = await Promise.all([start(), start()]);
  const received = await subscribed(t, serving, { query: ITEM });

  await kcat(t, topic, events(0, 500));
  // The stream goes on while one pod joins the consumer group and another one leaves: two rebalances in mid-batch.
  await Promise.all([start(), kcat(t, topic, events(500, 1_000))]);
  const [code] = await Promise.all([leaving.stop(), kcat(t, topic, events(1_000, 1_500))]);
  assert.equal(code, 0);
  await kcat(t, topic, events(1_500, EVENTS));

  await received.until(EVENTS);
  assertGot(received, expectedOf());
});

test('a subscriber gets an event once whose list of keys matches two of its channels', async (t) => {
  const topic = await createTopic(t);
  const pod = await (await podsOf(t, topic))();
  const received = await subscribed(t, pod, { query: 'subscription { item(id: [1, 2, 3]) { n } }' });
  await kcat(t, topic, [
    { value: JSON.stringify({ id: [1, 2, 2, 99], n: 1 }) },
    { value: JSON.stringify({ id: [98, 99], n: 2 }) },
    { value: JSON.stringify({ id: 3, n: 3 }) },
  ]);
  await received.until(2);
  assert.deepEqual(numbersOf(received), [1, 3]);
  await pod.untilMetric('sluice_deliveries_total', 2);
});
