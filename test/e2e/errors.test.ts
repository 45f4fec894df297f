import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { post, sharedGraph, startGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { last: Bid }
  type Subscription { bid(auction_id: ID!): Bid @event(topic: "bids", key: "auction_id") }
  type Bid { id: ID! auction_id: ID bidder_name: String }
`;
const CODE = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    resolvers: {
      Query: { last: () => ({ id: 'b2' }) },
      Bid: { bidder_name: ({ bidder }) => bidder.name },
    },
  });
`;
const INTERNAL = { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
const ONE = `sluice_resolver_errors_total{field="Bid.bidder_name",code="INTERNAL_SERVER_ERROR"}`;

/** Bids whose events have no bidder. */
const AUCTION = { 'schema.graphql': SCHEMA, 'graph.js': CODE };
const auction = sharedGraph(AUCTION);

test('a bid without a bidder is an error without internals for clients, one count for all of them, and a line with the cause', async (t) => {
  const gateway = await auction();
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  const query = 'subscription Bids($id: ID!) { bid(auction_id: $id) { id bidder_name } }';
  for (const id of ['1', '2', '3']) socket.subscribe(id, query, { id: 's3cret' });
  await gateway.untilMetric('sluice_subscribers', 3);
  await gateway.postEvent('bids', { id: 'b1', auction_id: 's3cret', amount: 5 });
  for (const id of ['1', '2', '3']) {
    const { payload } = await socket.until((message) => message.id === id);
    assert.deepEqual(payload, {
      errors: [{ ...INTERNAL, path: ['bid', 'bidder_name'] }],
      data: { bid: { id: 'b1', bidder_name: null } },
    });
  }
  assert.equal(await gateway.metric(ONE), 1);
  const line = await gateway.untilLine(({ operation }) => operation === 'Bids');
  assert.equal(line.msg, 'a field could not be resolved');
  assert.equal(line['field'], 'Bid.bidder_name');
  assert.equal(line['path'], 'bid.bidder_name');
  assert.equal(line['error'], "Cannot read properties of undefined (reading 'name')");
  assert.match(String(line['stack']), /^TypeError\n    at bidder_name \(.*graph\.js/);
  assert.doesNotMatch(JSON.stringify(gateway.lines), /s3cret/);
});

test('a query by POST is masked likewise, and not with MASK_ERRORS=false', async (t) => {
  const query = '{ last { bidder_name } }';
  const [masked] = ((await post(await auction(), { query })) as { errors: object[] }).errors;
  assert.deepEqual(masked, { ...INTERNAL, path: ['last', 'bidder_name'] });
  const gateway = await startGraph(t, AUCTION, { MASK_ERRORS: 'false' });
  const { errors } = (await post(gateway, { query })) as { errors: unknown };
  const message = "Cannot read properties of undefined (reading 'name')";
  assert.deepEqual(errors, [{ ...INTERNAL, message, path: ['last', 'bidder_name'] }]);
});
