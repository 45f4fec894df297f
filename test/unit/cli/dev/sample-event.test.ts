import assert from 'node:assert/strict';
import test from 'node:test';
import { sampleEvent } from '../../../../src/cli/dev/sample-event.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

test('a sample event has the key, and what the schema demands of it but for what code resolves', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { bid(auction_id: ID!): Bid @event(topic: "bids", key: "auction_id") }
      enum State { OPEN SHUT }
      type Bid { auction_id: ID! amount: Money! state: State! tags: [String!]! seller: Seller gross: Int! }
      type Money { value: Int! currency: String }
      type Seller { name: String }`,
    'graph.js': `
      import { defineGraph } from 'sluice';
      export default defineGraph({ resolvers: { Bid: { gross: () => 1 } } });`,
  });
  assert.deepEqual(sampleEvent(await loadGraph(folder)), {
    topic: 'bids',
    event: { auction_id: '7', amount: { value: 1, currency: 'text' }, state: 'OPEN', tags: ['text'] },
  });
});

test('a topic that the graph decodes itself has none', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': 'type Subscription { bid: Bid @event(topic: "bids") } type Bid { n: Int }',
    'graph.js': `
      import { defineGraph } from 'sluice';
      export default defineGraph({ decode: { bids: () => ({}) } });`,
  });
  assert.deepEqual(sampleEvent(await loadGraph(folder)), { topic: 'bids', event: undefined });
});
