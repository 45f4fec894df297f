import assert from 'node:assert/strict';
import test from 'node:test';
import { introduction, newTopics } from '../../../../src/cli/dev/introduction.ts';
import { topic as topicNamed, topics } from '../../ingest/parts.ts';
import { sampleEvents } from '../../../../src/cli/dev/sample-event.ts';
import { loadConfig } from '../../../../src/config/config.ts';
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
  const event = { auction_id: '7', amount: { value: 1, currency: 'text' }, state: 'OPEN', tags: ['text'] };
  assert.deepEqual(sampleEvents(await loadGraph(folder)), [{ topic: 'bids', event }]);
});

test('a sample event has the objects that a nested key leads through, with what the schema demands of them', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription {
        bid(house: Int!): Bid @event(topic: "bids", key: "seller.house.number", argument: "house")
      }
      type Bid { amount: Int seller: Seller }
      type Seller { a: Int b: Int c: Int d: Int house: House name: String! }
      type House { number: Int city: City street: String! }
      type City { name: String! }`,
  });
  const house = { number: 1, street: 'text' };
  assert.deepEqual(sampleEvents(await loadGraph(folder))[0]?.event, {
    amount: 1,
    seller: { a: 1, b: 1, c: 1, d: 1, house, name: 'text' },
  });
});

test('a sample event names the entities that it refers to', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { order: Order @event(topic: "orders") }
      type Order {
        id: ID
        product: Product @reference(fields: "product_id")
        parts: [Product] @reference(fields: "part_ids")
        shop: Shop @reference(fields: "at { id town { code } }")
      }
      type Product @key(fields: "upc") { upc: ID }
      type Shop @key(fields: "id town { code }") { id: ID town: Town }
      type Town { code: ID }`,
  });
  const event = { id: '7', product_id: '7', part_ids: ['7'], at: { id: '7', town: { code: '7' } } };
  assert.deepEqual(sampleEvents(await loadGraph(folder)), [{ topic: 'orders', event }]);
});

test('of an event whose type the schema does not tell a sample has the key alone', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { bid(id: ID!): JSON @event(topic: "bids", key: "seller.id") }
      scalar JSON`,
  });
  assert.deepEqual(sampleEvents(await loadGraph(folder))[0]?.event, { seller: { id: '7' } });
});

test('a topic that the graph decodes itself has none', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': 'type Subscription { bid: Bid @event(topic: "bids") } type Bid { n: Int }',
    'graph.js': `
      import { defineGraph } from 'sluice';
      export default defineGraph({ decode: { bids: () => ({}) } });`,
  });
  assert.deepEqual(sampleEvents(await loadGraph(folder)), [{ topic: 'bids', event: undefined }]);
});

const curl = (topic: string): string =>
  `  curl -X POST localhost:4000/events/${topic} -H 'content-type: application/json' -d `;

test('each topic has a command once, with an event that has a key if a field has one, and no more than three', async (t) => {
  const fields = ['orders', 'sales', 'lots'].map((topic) => `${topic}: Bid @event(topic: "${topic}")`);
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription {
        bids: Bid @event(topic: "bids")
        bid(id: ID!): Bid @event(topic: "bids", key: "id")
        ${fields.join('\n')}
      }
      type Bid { id: ID n: Int }`,
  });
  const lines = introduction(loadConfig({}), await loadGraph(folder), 'http://localhost:4000').split('\n');
  assert.deepEqual(lines.slice(lines.findIndex((line) => line.startsWith('  curl'))), [
    `${curl('bids')}'{"id":"7","n":1}'`,
    `${curl('orders')}'{"id":"7","n":1}'`,
    `${curl('sales')}'{"id":"7","n":1}'`,
    '  and so on for lots',
    '',
    '',
  ]);
});

test('after a reload the topics that are new have a command, and none that were there, or that come from Kafka', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { bid: Bid @event(topic: "bids") lot: Bid @event(topic: "lots") }
      type Bid { n: Int }`,
  });
  const graph = await loadGraph(folder);
  const [url, bids] = ['http://localhost:4000', topics(topicNamed('bids'))];
  assert.equal(
    newTopics(loadConfig({}), graph, url, bids),
    `\n  Topics that are new:\n\n${curl('lots')}'{"n":1}'\n\n`,
  );
  assert.equal(newTopics(loadConfig({}), graph, url, graph.topics), '');
  assert.equal(newTopics(loadConfig({ KAFKA_BROKERS: 'kafka:9092' }), graph, url, bids), '');
});

test('of messages that the graph decodes itself it is said that they come from a file, and who reads them', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { bid: Bid @event(topic: "bids") lot: Bid @event(topic: "lots") }
      type Bid { n: Int }`,
    'graph.js': `
      import { defineGraph } from 'sluice';
      export default defineGraph({ decode: { bids: () => ({}) } });`,
  });
  const lines = introduction(loadConfig({}), await loadGraph(folder), 'http://localhost:4000').split('\n');
  assert.deepEqual(lines.slice(lines.findIndex((line) => line.startsWith('  curl'))), [
    "  curl -X POST localhost:4000/events/bids -H 'content-type: application/octet-stream' --data-binary '@message'",
    `${curl('lots')}'{"n":1}'`,
    '  message is a file that you write: one message, as decode of bids takes it',
    '',
    '',
  ]);
});
