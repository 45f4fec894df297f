import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, type TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, startReady, sumOf } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { kafkaAdmin, kafkaProducer } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { createTopics } from '../helpers/topic.ts';
import { assertAllCame, sendItems, subscribers } from './all-came.ts';

const it = testNeeding('kafka', 'redis', 'kcat');

const CLIENTS_PER_POD = 100;
const PARTITIONS = 4;

/** A graph of two topics, of which the test makes those that it wants. */
async function setUp(t: TestContext) {
  const id = randomUUID().slice(0, 8);
  const [topic, gone, dead] = [`stays-${id}`, `goes-${id}`, `dead-${id}`] as const;
  const GRAPH = await graphFolder(t, {
    'schema.graphql': `
      type Subscription {
        item: Item @event(topic: "${topic}")
        other: Item @event(topic: "${gone}")
      }
      type Item { id: ID! n: Int }`,
  });
  const admin = await kafkaAdmin(t);
  const create = (...names: readonly string[]) =>
    // A topic of the same name may be being deleted.
    eventually(() =>
      createTopics(
        admin,
        names.map((name) => ({ topic: name, numPartitions: PARTITIONS })),
      ),
    );
  const remove = async (name: string): Promise<void> => {
    await admin.deleteTopics({ topics: [name] });
    // The controller has done so; brokers may take a moment.
    await eventually(async () => assert.ok(!(await admin.listTopics()).includes(name)));
  };
  const settings = { GRAPH, ...podSettings(topic) };
  return { topic, gone, dead, settings, create, remove };
}

/** Two pods, with a hundred clients each. */
async function pods(t: TestContext, settings: Readonly<Record<string, string>>) {
  const both = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  await Promise.all(both.map((pod) => pod.untilMetric('sluice_partitions_assigned', PARTITIONS)));
  const received = await Promise.all(both.map((pod) => subscribers(t, pod, CLIENTS_PER_POD)));
  return { both, received: received.flat() };
}

/** Pods look for topics that are missing every 15 s: most of the time is that wait. */
describe('a pod whose topics come and go', { concurrency: true }, () => {
  it('one topic that is deleted stops no other: it is told and counted, pods stay ready, and consume it once it is back', async (t) => {
    const { topic, gone, settings, create, remove } = await setUp(t);
    await create(topic, gone);
    const { both, received } = await pods(t, settings);
    const others = (await Promise.all(both.map((pod) => subscribers(t, pod, 1, 'other')))).flat();
    await sendItems(t, topic, 0, 50);
    await remove(gone);
    await sendItems(t, topic, 50, 200);
    await assertAllCame(t, received, 200);
    for (const pod of both) {
      await pod.untilLog(/topics are missing; the others are consumed/);
      await pod.untilMetric(`sluice_topic_missing{topic="${gone}"}`, 1);
      await pod.untilReady();
    }
    await create(gone);
    await sendItems(t, gone, 0, 50);
    await assertAllCame(t, others, 50);
    await Promise.all(both.map((pod) => pod.untilMetric('sluice_topic_missing', 0)));
  });

  it('a topic that is missing when a pod starts keeps it unready, and it consumes the others', async (t) => {
    const { topic, gone, settings, create } = await setUp(t);
    await create(topic);
    const pod = await startGateway(t, settings);
    await pod.untilNotReady(new RegExp(`topics missing: ${gone}`));
    await pod.untilMetric('sluice_partitions_assigned', PARTITIONS);
    const received = await subscribers(t, pod, 1);
    await sendItems(t, topic, 0, 50);
    await assertAllCame(t, received, 50);
    await create(gone);
    await pod.untilReady();
  });

  it('a dead-letter topic that is deleted stops the partitions that have a letter for it, and no others, until it is back', async (t) => {
    const { topic, gone, dead, settings, create, remove } = await setUp(t);
    await create(topic, gone, dead);
    const { both, received } = await pods(t, { ...settings, DEAD_LETTER_TOPIC: dead });
    const producer = await kafkaProducer(t);
    const send = (partition: number, from: number, to: number, ...before: readonly string[]) => {
      const values = range(from, to).map((n) => JSON.stringify({ id: partition, n }));
      return producer.send({
        topic,
        messages: [...before, ...values].map((value) => ({ partition, value })),
      });
    };
    await send(0, 0, 10);
    await assertAllCame(t, received, 10);
    await remove(dead);
    await send(0, 100, 110, 'not json');
    await Promise.race(both.map((pod) => pod.untilLog(/a partition waits for the dead-letter topic/)));
    for (const partition of range(1, PARTITIONS))
      await send(partition, 30 * partition - 20, 30 * partition + 10);
    await assertAllCame(t, received, 110);
    await eventually(async () => assert.equal(await sumOf(both, 'sluice_kafka_lag'), 11));
    for (const pod of both) await pod.untilReady();
    await create(dead);
    await Promise.all(both.map((pod) => pod.untilMetric('sluice_kafka_lag', 0)));
    await assertAllCame(t, received, 110);
    assert.equal(await sumOf(both, 'sluice_dead_letters_total'), 1);
  });
});
