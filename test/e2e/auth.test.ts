import assert from 'node:assert/strict';
import test from 'node:test';
import type { Received } from '../helpers/graphql-client.ts';
import { asking, post, sharedGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { secret: String @auth(requires: "admin") }
  type Mutation { close: String @auth(requires: "admin") }
  type Subscription { bid: Bid @event(topic: "bids") }
  type Bid { n: Int reserve: Int @auth(requires: "admin") }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: (params, { headers }) => {
      const { id, role = headers['x-role'] } = params;
      return id || role ? { id, role } : {};
    },
    resolvers: { Query: { secret: () => 'secret' }, Mutation: { close: () => 'closed' } },
  });
`;

const ready = sharedGraph({ 'schema.graphql': SCHEMA, 'graph.ts': GRAPH });

const refusal = (path: string[], coordinate: string) => ({
  message: `The viewer may not use ${coordinate}.`,
  path,
  extensions: { code: 'FORBIDDEN' },
});

test('subscriptions, queries over WebSocket and POST give a guarded field only to those who may use it', async (t) => {
  const gateway = await ready();
  const asBoth = (query: string) =>
    ['bidder', 'admin'].map((role) => asking(t, gateway, query, { id: role, role })) as [Received, Received];
  const [guestBids, adminBids] = asBoth('subscription { bid { n reserve } }');
  await gateway.untilMetric('sluice_subscribers', 2);
  await gateway.postEvent('bids', { n: 1, reserve: 9 });
  assert.deepEqual((await guestBids.until(1)).results, [
    { errors: [refusal(['bid', 'reserve'], 'Bid.reserve')], data: { bid: { n: 1, reserve: null } } },
  ]);
  assert.deepEqual((await adminBids.until(1)).results, [{ data: { bid: { n: 1, reserve: 9 } } }]);

  for (const [query, path, coordinate, value] of [
    ['{ secret }', 'secret', 'Query.secret', 'secret'],
    ['mutation { close }', 'close', 'Mutation.close', 'closed'],
  ] as const) {
    const expected = { errors: [refusal([path], coordinate)], data: { [path]: null } };
    const given = { data: { [path]: value } };
    const [asGuest, asAdmin] = asBoth(query);
    assert.deepEqual((await asGuest.until(1)).results, [expected]);
    assert.deepEqual((await asAdmin.until(1)).results, [given]);
    assert.deepEqual(await post(gateway, { query }, { 'x-role': 'bidder' }), expected);
    assert.deepEqual(await post(gateway, { query }, { 'x-role': 'admin' }), given);
  }
});
