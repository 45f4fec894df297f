import assert from 'node:assert/strict';
import test from 'node:test';
import { expectSpreadable } from '../../../src/gateway/running-graph.ts';
import { loadGraph } from '../../../src/graph/loader/load-graph.ts';
import type { Log } from '../../../src/log.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';

test('a topic whose channels are spread may not have history, and one that is not of the graph is warned of', async (t) => {
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
  const warnings: string[] = [];
  const log = { warn: (text: string) => void warnings.push(text) } as unknown as Log;
  const expect = (...names: string[]) => expectSpreadable({ REDIS_CLUSTER_SPREAD: names }, graph, log);
  expect('orders');
  assert.deepEqual(warnings, []);
  expect('orders', 'oders');
  assert.deepEqual(warnings, ['REDIS_CLUSTER_SPREAD: expected topics of the graph, got oders']);
  assert.throws(() => expect('orders', 'prices'), {
    code: 'BAD_SETTINGS',
    message: 'REDIS_CLUSTER_SPREAD: expected topics without history, got prices',
  });
});
