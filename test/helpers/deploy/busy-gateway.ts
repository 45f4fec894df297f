import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';
import { startReady } from '../gateway.ts';
import { graphFolder } from '../graph-folder.ts';
import { graphqlClient, Received } from '../graphql-client.ts';
import { connectAndInit } from '../raw-socket.ts';
import { kafkaProducer } from '../kafka-client.ts';
import { redisAdmin } from '../redis.ts';
import { podSettings, redisUrl } from '../services.ts';
import { createTopic } from '../topic.ts';
import { Exposition } from './exposition.ts';

const QUERY = 'subscription { item { id mine supplier } }';
/** Counters that the test must raise. */
const COUNTED = [
  'dead_letters',
  'kafka_key_mismatches',
  'skipped_messages',
  'stale_events',
  'unshared_executions',
  'unsubscribed_events',
];
const KEYED_QUERY = 'subscription { keyed(id: "1") { id } }';

const graphFiles = (topic: string, keyed: string): Record<string, string> => ({
  'schema.graphql': `
    type Subscription {
      item: Item @event(topic: "${topic}")
      keyed(id: ID!): Item @event(topic: "${keyed}", key: "id", keyFrom: KAFKA_KEY)
    }
    type Item { id: ID! mine: Boolean supplier: String }
  `,
  'graph.js': `
    import { defineGraph } from 'sluice';
    export default defineGraph({
      authenticate: ({ id = '0' }) => ({ id }),
      backends: { suppliers: { url: 'http://127.0.0.1:1', retries: 1 } },
      resolvers: {
        Item: {
          mine: (item, _, ctx) => ctx.viewer.id === item.id,
          supplier: (_item, _args, ctx) => ctx.backends.suppliers.get('/'),
        },
      },
    });
  `,
});

/** The `/metrics` of a gateway that has recorded every metric with all its labels. Needs 'kafka' and 'redis'. */
export async function metricsOfBusyGateway(t: TestContext): Promise<string> {
  const [topic, keyed] = [await createTopic(t), await createTopic(t)];
  const gateway = await startReady(t, {
    GRAPH: await graphFolder(t, graphFiles(topic, keyed)),
    ...podSettings(topic),
    EVENT_MAX_AGE_SECONDS: '3600',
  });
  const subscribe = (id: string, query: string): Received => {
    const client = graphqlClient(t, gateway.graphqlUrl, { connectionParams: { id } });
    return new Received(client, query);
  };
  const viewers = [subscribe('1', QUERY), subscribe('2', QUERY)];
  subscribe('3', KEYED_QUERY);
  await gateway.untilMetric('sluice_subscribers', 3);

  const redis = await redisAdmin(t, { url: redisUrl() });
  // The count includes the gateway now or soon: it has subscribed to the channel, or is about to.
  await eventually(async () =>
    assert.equal(await redis.publish(`${topic}:${topic}`, '{"v":99}'), 1, 'gateways that listen'),
  );
  const silent = await connectAndInit(t, gateway.graphqlUrl);
  silent.send('?');
  await silent.closed;
  const producer = await kafkaProducer(t);
  const late = { value: '{"id":"1"}', timestamp: '1000' };
  await producer.send({ topic, messages: [{ value: 'not json' }, late, { value: '{"id":"1"}' }] });
  const others = [
    { key: '1', value: '{"id":"2"}' },
    { key: '9', value: '{"id":"9"}' },
  ];
  await producer.send({ topic: keyed, messages: others });
  // By then the execution has been split by both viewers, and has asked the back end, which is away.
  await Promise.all(viewers.map((received) => received.until(1)));
  return eventually(async () => {
    const page = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    for (const name of COUNTED)
      assert.match(page, new RegExp(`^sluice_${name}_total(\\{.*)? [1-9]`, 'm'), `expected some ${name}`);
    assert.deepEqual(withoutSeries(page), [], 'metrics without a series');
    return page;
  });
}

/** Returns names of metrics that have no series on the page: the gateway's, and Node.js's of garbage collections. */
function withoutSeries(page: string): string[] {
  const exposition = new Exposition(page);
  return [...page.matchAll(/^# TYPE ((?:sluice_|nodejs_gc_)\w+) (\w+)$/gm)]
    .map(([, name = '', kind]) => (kind === 'histogram' ? `${name}_bucket` : name))
    .filter((name) => !exposition.has(name));
}
