import assert from 'node:assert/strict';
import test from 'node:test';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { upTo } from '../helpers/numbers.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const EVENTS = 500;

test(
  'pods without Kafka serve what another one consumes, which has no clients',
  needs('kafka', 'redis', 'kcat'),
  async (t) => {
    const topic = await createTopic(t);
    const GRAPH = await graphFolder(t, { 'schema.graphql': itemSchema(topic) });
    const { KAFKA_BROKERS, KAFKA_GROUP_ID, ...redis } = podSettings(topic);
    const consumer = await startGateway(t, { GRAPH, KAFKA_BROKERS, KAFKA_GROUP_ID, ...redis });
    const serving = await Promise.all([
      startGateway(t, { GRAPH, ...redis }),
      startGateway(t, { GRAPH, ...redis }),
    ]);
    await Promise.all([consumer, ...serving].map((pod) => pod.untilReady()));
    const received = serving.map(
      (pod) =>
        new Received<{ item: { n: number } }>(
          graphqlClient(t, pod.graphqlUrl),
          'subscription { item(id: 1) { n } }',
        ),
    );
    await Promise.all(serving.map((pod) => pod.untilMetric('sluice_subscribers', 1)));
    const values = upTo(EVENTS).map((n) => JSON.stringify({ id: 1, n }));
    await kcat(
      t,
      topic,
      values.map((value) => ({ key: '1', value })),
    );
    for (const one of received) {
      await one.until(EVENTS);
      assert.deepEqual(
        one.data.map((data) => data?.item.n),
        upTo(EVENTS),
      );
    }
    for (const pod of serving) assert.equal(await pod.metric('sluice_events_total'), 0);
  },
);
