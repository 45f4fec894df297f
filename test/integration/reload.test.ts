import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { numbersOf, subscribed, type ItemData, type Received } from '../helpers/graphql-client.ts';
import { kafkaProducer } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis');

/** A subscription field for each topic. */
const schemaOf = (topics: Readonly<Record<string, string>>): string => {
  const fields = Object.entries(topics).map(([field, topic]) => `${field}: Item @event(topic: "${topic}")`);
  return `type Subscription { ${fields.join('\n')} } type Item { n: Int! }`;
};

/** A pod with a subscription to the first of these topics. */
async function startPod(t: TestContext, topics: Readonly<Record<string, string>>) {
  const graph = await ReloadedGraph.of(t, { 'schema.graphql': schemaOf(topics) });
  const [[field = '', topic = ''] = []] = Object.entries(topics);
  const gateway = await startReady(t, { GRAPH: graph.folder, ...podSettings(topic) });
  return { graph, gateway, received: await toField(t, gateway, field), producer: await kafkaProducer(t) };
}

const toField = (t: TestContext, gateway: GatewayProcess, field: string): Promise<Received<ItemData>> =>
  subscribed(t, gateway, { query: `subscription { item: ${field} { n } }` });

test('a pod consumes the topics of the new graph, and no others, and of those that stay it loses and doubles no message', async (t) => {
  const [stays, comes, goes] = [await createTopic(t), await createTopic(t), await createTopic(t)];
  const { graph, gateway, received, producer } = await startPod(t, { stays, goes });
  const send = (topic: string, n: number) =>
    producer.send({ topic, messages: [{ partition: 0, value: JSON.stringify({ n }) }] });
  await send(goes, 0);
  await gateway.untilMetric(`sluice_events_total{topic="${goes}"}`, 1);

  let sent = 0;
  const ending = new AbortController();
  const stream = (async () => {
    while (!ending.signal.aborted) await send(stays, sent++);
  })();
  await received.until(10);
  for (const topics of [{ stays, comes }, { stays }, { stays, comes }]) {
    await graph.reload(gateway, { 'schema.graphql': schemaOf(topics) });
    const { length } = received.results;
    await received.until(length + 10);
  }
  ending.abort();
  await stream;
  await received.until(sent);
  assert.deepEqual(numbersOf(received), range(0, sent));

  const added = await toField(t, gateway, 'comes');
  await gateway.untilMetric('sluice_partitions_assigned', 2);
  await send(goes, 1);
  await send(comes, 7);
  await added.until(1);
  assert.deepEqual(numbersOf(added), [7]);
  await send(stays, sent);
  await received.until(sent + 1);
  assert.equal(await gateway.metric(`sluice_events_total{topic="${goes}"}`), 1);
  assert.equal(await gateway.metric('sluice_consumer_restarts_total'), 0);
  await gateway.untilReady();
});

test('a graph with a topic that Kafka does not have is refused, and the pod goes on with the one before', async (t) => {
  const topic = await createTopic(t);
  const { graph, gateway, received, producer } = await startPod(t, { item: topic });
  await graph.reloadInVain(gateway, {
    'schema.graphql': schemaOf({ item: topic, other: `${topic}-missing` }),
  });
  const why = `expected topics that exist in Kafka, got ${topic}-missing: create them, then reload the graph again`;
  await gateway.untilLine(({ msg }) => msg === why);
  await producer.send({ topic, messages: [{ value: JSON.stringify({ n: 1 }) }] });
  await received.until(1);
  await gateway.untilReady();
  await gateway.untilMetric('sluice_partitions_assigned', 1);
});
