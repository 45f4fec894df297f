import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startServer } from '../unit/backends/fixture.ts';
import { startReady } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { subscribed } from '../helpers/graphql-client.ts';
import { Inbox } from '../helpers/inbox.ts';
import { kafkaProducer } from '../helpers/kafka-client.ts';
import { redisAdmin } from '../helpers/redis.ts';
import { OtlpCollector, treeOf } from '../helpers/otlp-collector.ts';
import { testNeeding, podSettings, redisUrl } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis');

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PRODUCER = '00f067aa0ba902b7';

/** An event's seller is fetched by a loader, from a back end. */
const graphCode = (url: string): string => `
  import DataLoader from 'dataloader';
  import { defineGraph } from 'sluice';
  export default defineGraph({
    backends: { sellers: { url: '${url}' } },
    loaders: (ctx) => ({ seller: new DataLoader((ids) => ctx.backends.sellers.post('/batch', { ids })) }),
    resolvers: { Item: { seller_name: (item, _args, ctx) => ctx.loaders.seller.load(item.seller_id) } },
  });
`;

const schemaOf = (topic: string): string => `
  type Subscription { item: Item @event(topic: "${topic}") }
  type Item { id: ID! seller_name: String }
`;

/** One pod that consumes and one that serves, which has the only subscriber; a back end; and what is heard on the bus. */
async function start(t: TestContext, settings: Record<string, string>) {
  const topic = await createTopic(t);
  const backend = await startServer(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('["Ann"]');
  });
  const GRAPH = await graphFolder(t, {
    'schema.graphql': schemaOf(topic),
    'graph.js': graphCode(backend.url),
  });
  const common = { GRAPH, ...podSettings(topic), ...settings };
  const { KAFKA_BROKERS: _brokers, KAFKA_GROUP_ID: _group, ...edge } = common;
  const [consuming, serving] = await Promise.all([
    startReady(t, { ...common, OTEL_SERVICE_NAME: 'consuming' }),
    startReady(t, { ...edge, OTEL_SERVICE_NAME: 'serving' }),
  ]);
  const received = await subscribed<object>(t, serving, {
    query: 'subscription Watch { item { id seller_name } }',
  });
  const redis = await redisAdmin(t, { url: redisUrl() });
  const inbox = new Inbox();
  redis.on('message', (_channel, message) => inbox.take(message));
  await redis.subscribe(`${topic}:${topic}`);
  const producer = await kafkaProducer(t);
  const produce = (id: string, headers: Record<string, string>) =>
    producer.send({ topic, messages: [{ value: JSON.stringify({ id, seller_id: 7 }), headers }] });
  return { topic, consuming, serving, received, inbox, backend, produce };
}

const sentTo = (backend: Awaited<ReturnType<typeof startServer>>): string[] =>
  backend.requests.map(({ headers }) => String(headers['traceparent']));

test('the trace of a producer goes on through the pod that consumes, the pod that serves and a back end, to the sockets', async (t) => {
  const collector = await OtlpCollector.start(t);
  const { topic, serving, received, inbox, backend, produce } = await start(t, collector.settings);
  await produce('1', { traceparent: `00-${TRACE}-${PRODUCER}-01`, tracestate: 'shop=a1' });
  await received.until(1);
  assert.deepEqual(received.data, [{ item: { id: '1', seller_name: 'Ann' } }]);

  const spans = await collector.until(6, TRACE);
  assert.deepEqual(treeOf(spans), [
    `process ${topic} (consuming)`,
    `  publish ${topic} (consuming)`,
    '    dispatch item (serving)',
    '      execute item (serving)',
    '        POST sellers (serving)',
    '      write item (serving)',
  ]);
  const named = (name: string) => spans.find((span) => span.name.startsWith(name));
  const [process, publish, execute] = [named('process'), named('publish'), named('execute')];
  assert.equal(process?.parentSpanId, PRODUCER);
  assert.ok(spans.every(({ traceState }) => traceState === 'shop=a1'));
  assert.deepEqual(
    ['messaging.system', 'messaging.destination.name', 'messaging.destination.partition.id'].map(
      (name) => process.attributes[name],
    ),
    ['kafka', topic, '0'],
  );
  assert.equal(process.attributes['messaging.kafka.offset'], 0);
  assert.equal(execute?.attributes['graphql.operation.name'], 'Watch');
  assert.equal(named('write')?.attributes['sluice.deliveries'], 1);
  const [text = ''] = await inbox.until(1);
  const message = JSON.parse(text) as Record<string, unknown>;
  assert.equal(message['traceparent'], `00-${TRACE}-${publish?.spanId}-01`);
  assert.equal(message['tracestate'], 'shop=a1');
  assert.deepEqual(sentTo(backend), [`00-${TRACE}-${named('POST')?.spanId}-01`]);
  assert.equal(await serving.stop(), 0);
});

test('an event that its producer has not sampled adds nothing to the message, and has back ends record nothing', async (t) => {
  const collector = await OtlpCollector.start(t);
  const { consuming, serving, received, inbox, backend, produce } = await start(t, collector.settings);
  await produce('1', { traceparent: `00-${TRACE}-${PRODUCER}-00` });
  await received.until(1);
  assert.doesNotMatch((await inbox.until(1)).join(), /trace/);
  assert.match(sentTo(backend).join(), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  // What has ended is exported before a pod ends.
  await Promise.all([consuming.stop(), serving.stop()]);
  assert.deepEqual(collector.spans, []);
});
