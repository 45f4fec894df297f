import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Producer } from 'kafkajs';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { disconnectAfter, kafkaClient } from '../helpers/kafka-client.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis');

/** A subscription field for each topic. */
const schemaOf = (topics: Readonly<Record<string, string>>): string => {
  const fields = Object.entries(topics).map(([field, topic]) => `${field}: Item @event(topic: "${topic}")`);
  return `type Subscription { ${fields.join('\n')} } type Item { n: Int! }`;
};

async function producerFor(t: TestContext): Promise<Producer> {
  const producer = kafkaClient().producer();
  disconnectAfter(t, producer);
  await producer.connect();
  return producer;
}

const subscribe = (t: TestContext, { graphqlUrl }: GatewayProcess, field: string): Received =>
  new Received(graphqlClient(t, graphqlUrl), `subscription { ${field} { n } }`);

const numbersIn = ({ results }: Received): unknown[] =>
  results.map(({ data }) => (Object.values(data ?? {})[0] as { n: number }).n);

test('a pod consumes the topics of the new graph, and no others, and of those that stay it loses and doubles no message', async (t) => {
  const [stays, comes, goes] = [await createTopic(t), await createTopic(t), await createTopic(t)];
  const graph = await ReloadedGraph.of(t, { 'schema.graphql': schemaOf({ stays, goes }) });
  const gateway = await startGateway(t, { GRAPH: graph.folder, ...podSettings(stays) });
  await gateway.untilReady();
  const producer = await producerFor(t);
  const send = (topic: string, n: number) =>
    producer.send({ topic, messages: [{ partition: 0, value: JSON.stringify({ n }) }] });
  const received = subscribe(t, gateway, 'stays');
  await gateway.untilMetric('sluice_subscribers', 1);
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
  assert.deepEqual(
    numbersIn(received),
    Array.from({ length: sent }, (_, n) => n),
  );

  const added = subscribe(t, gateway, 'comes');
  await gateway.untilMetric('sluice_subscribers', 2);
  await gateway.untilMetric('sluice_partitions_assigned', 2);
  await send(goes, 1);
  await send(comes, 7);
  await added.until(1);
  assert.deepEqual(numbersIn(added), [7]);
  await send(stays, sent);
  await received.until(sent + 1);
  assert.equal(await gateway.metric(`sluice_events_total{topic="${goes}"}`), 1);
  assert.equal(await gateway.metric('sluice_consumer_restarts_total'), 0);
  await gateway.untilReady();
});

test('a graph with a topic that Kafka does not have is refused, and the pod goes on with the one before', async (t) => {
  const topic = await createTopic(t);
  const graph = await ReloadedGraph.of(t, { 'schema.graphql': schemaOf({ item: topic }) });
  const gateway = await startGateway(t, { GRAPH: graph.folder, ...podSettings(topic) });
  await gateway.untilReady();
  const received = subscribe(t, gateway, 'item');
  await gateway.untilMetric('sluice_subscribers', 1);
  await graph.reloadInVain(gateway, {
    'schema.graphql': schemaOf({ item: topic, other: `${topic}-missing` }),
  });
  const why = `expected topics that exist in Kafka, got ${topic}-missing: create them, then reload the graph again`;
  await gateway.untilLine(({ msg }) => msg === why);
  const producer = await producerFor(t);
  await producer.send({ topic, messages: [{ value: JSON.stringify({ n: 1 }) }] });
  await received.until(1);
  await gateway.untilReady();
  await gateway.untilMetric('sluice_partitions_assigned', 1);
});
