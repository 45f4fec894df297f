import assert from 'node:assert/strict';
import test from 'node:test';
import { expectSpreadable } from '../../../src/gateway/spread-topics.ts';
import { loadGraph } from '../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';

test('a topic whose channels are spread may not have history', async (t) => {
  const graph = await loadGraph(
    await graphFolder(t, {
      'schema.graphql': `
        type Subscription {
          order(id: ID!): Item @event(topic: "orders", key: "id")
          price(id: ID!): Item @event(topic: "prices", key: "id", history: { size: 10, ttl_seconds: 60 })
        }
        type Item { id: ID! }`,
    }),
  );
  expectSpreadable({ REDIS_CLUSTER_SPREAD: ['orders', 'others'] }, graph);
  assert.throws(() => expectSpreadable({ REDIS_CLUSTER_SPREAD: ['orders', 'prices'] }, graph), {
    code: 'BAD_SETTINGS',
    message: 'REDIS_CLUSTER_SPREAD: expected topics without history, got prices',
  });
});
