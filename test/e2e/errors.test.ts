import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, connectAndInit } from '../helpers/raw-socket.ts';
import { post, sharedGraph, startGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { last: Bid }
  type Mutation { place: Bid }
  type Subscription { bid(auction_id: ID!): Bid @event(topic: "bids", key: "auction_id") }
  type Bid { id: ID! auction_id: ID bidder_name: String amount: Int refused: String exact: Exact }
  scalar Exact
`;
const CODE = `
  import { GraphQLError } from 'graphql';
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ tenant }) => ({ tenant: tenant ?? 'ann' }),
    context: ({ viewer }) => {
      if (viewer.tenant === 'none') throw new Error('no row in tenants');
      return {};
    },
    resolvers: {
      Query: { last: () => ({ id: 'b2' }) },
      Mutation: { place: () => ({ id: 'b3' }) },
      Bid: {
        exact: ({ amount }) => BigInt(amount),
        bidder_name: ({ bidder }) => bidder.name,
        refused: () => {
          throw new GraphQLError('The auction is over.', { extensions: { code: 'AUCTION_OVER' } });
        },
      },
    },
  });
`;
const INTERNAL = { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
const ERRORS = 'sluice_resolver_errors_total';
const ONE = `${ERRORS}{field="Bid.bidder_name",code="INTERNAL_SERVER_ERROR"}`;

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

test('a result that JSON can not hold is an error for clients, one count for all of them, and a line with the cause', async (t) => {
  const gateway = await auction();
  const count = `${ERRORS}{field="Subscription.bid",code="UNSERIALISABLE_RESULT"}`;
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  for (const id of ['1', '2'])
    socket.subscribe(id, 'subscription Exact { bid(auction_id: "1") { id exact } }');
  await gateway.untilMetric('sluice_subscribers', 2);
  await gateway.postEvent('bids', { id: 'b1', auction_id: '1', amount: 5 });
  for (const one of ['1', '2']) {
    const { payload } = await socket.until(({ id }) => id === one);
    const { errors, data } = payload as { errors: { extensions: object }[]; data: unknown };
    assert.deepEqual([errors[0]?.extensions, data], [{ code: 'UNSERIALISABLE_RESULT' }, null]);
  }
  assert.equal(await gateway.metric(count), 1);
  const line = await gateway.untilLine(({ operation }) => operation === 'Exact');
  assert.deepEqual([line.msg, line['field']], ['a field could not be resolved', 'Subscription.bid']);
  assert.match(String(line['error']), /expected a result that can be written as JSON, .*BigInt/);
});

test('queries and mutations are masked likewise, by POST and on a WebSocket; a GraphQLError is for clients', async (t) => {
  const gateway = await auction();
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  const asked = {
    'query { last { id bidder_name } }': {
      errors: [{ ...INTERNAL, path: ['last', 'bidder_name'] }],
      data: { last: { id: 'b2', bidder_name: null } },
    },
    'mutation { place { id bidder_name } }': {
      errors: [{ ...INTERNAL, path: ['place', 'bidder_name'] }],
      data: { place: { id: 'b3', bidder_name: null } },
    },
    'query { last { refused } }': {
      errors: [
        {
          message: 'The auction is over.',
          path: ['last', 'refused'],
          extensions: { code: 'AUCTION_OVER' },
        },
      ],
      data: { last: { refused: null } },
    },
  };
  for (const [query, expected] of Object.entries(asked)) {
    assert.deepEqual(await post(gateway, { query }), expected);
    socket.subscribe(query, query);
    assert.deepEqual((await socket.until(({ id }) => id === query)).payload, expected);
  }
  assert.equal(await gateway.metric(ONE), 4);
  assert.equal(await gateway.metric(`${ERRORS}{field="Bid.refused",code="AUCTION_OVER"}`), 2);
});

test("an error of the graph's context is masked, for subscriptions and queries", async (t) => {
  const gateway = await auction();
  const socket = await connect(t, gateway.graphqlUrl);
  socket.send({ type: 'connection_init', payload: { tenant: 'none' } });
  await socket.until(({ type }) => type === 'connection_ack');
  socket.subscribe('query', '{ last { id } }');
  socket.subscribe('events', 'subscription { bid(auction_id: "1") { id } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('bids', { id: 'b1', auction_id: '1' });
  for (const id of ['query', 'events']) {
    const { payload } = await socket.until((message) => message.id === id);
    assert.deepEqual(payload, { errors: [INTERNAL], data: null });
  }
  for (const type of ['Query', 'Subscription'])
    assert.equal(await gateway.metric(`${ERRORS}{field="${type}",code="INTERNAL_SERVER_ERROR"}`), 1);
  await gateway.untilLine(({ error }) => error === 'no row in tenants');
});

test('with MASK_ERRORS=false clients read the message', async (t) => {
  const gateway = await startGraph(t, AUCTION, { MASK_ERRORS: 'false' });
  const { errors } = (await post(gateway, { query: '{ last { bidder_name } }' })) as { errors: unknown };
  const message = "Cannot read properties of undefined (reading 'name')";
  assert.deepEqual(errors, [{ ...INTERNAL, message, path: ['last', 'bidder_name'] }]);
});
