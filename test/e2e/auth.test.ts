import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const SCHEMA = `
  type Query { secret: String @auth(requires: "admin") }
  type Mutation { close: String @auth(requires: "admin") }
  type Subscription {
    bid: Bid @event(topic: "bids")
    mine: Bid @event(topic: "bids") @auth(owner: { field: "owner_id" })
    of(user: ID!): Bid @event(topic: "bids") @auth(any: [{ requires: "admin" }, { owner: { argument: "user" } }])
  }
  type Bid { n: Int owner_id: ID reserve: Int @auth(requires: "admin") }
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

const ready = sharedGateway(async (scope) => {
  const folder = await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.ts': GRAPH });
  return startGateway(scope, { GRAPH: folder });
});

const connectAs = (t: TestContext, { graphqlUrl }: GatewayProcess, connectionParams: object) =>
  graphqlClient(t, graphqlUrl, { connectionParams: { ...connectionParams } });

const codeOf = (fault: unknown): unknown => {
  const [error] = fault as { extensions?: { code?: string } }[];
  return error?.extensions?.code;
};

const refusal = (path: string[], coordinate: string) => ({
  message: `The viewer may not use ${coordinate}.`,
  path,
  extensions: { code: 'FORBIDDEN' },
});

test('a subscription that a viewer may not hold is refused with an error, and others of its connection go on', async (t) => {
  const gateway = await ready();
  const ann = connectAs(t, gateway, { id: 'ann', role: 'bidder' });
  const mine = new Received<{ mine: { n: number } }>(ann, 'subscription { mine { n } }');
  const own = new Received(ann, 'subscription { of(user: "ann") { n } }');
  await gateway.untilMetric('sluice_subscribers', 2);
  const refused = new Received(ann, 'subscription { of(user: "bob") { n } }');
  assert.equal(codeOf(await refused.untilEnd()), 'FORBIDDEN');
  const anonymous = new Received(connectAs(t, gateway, {}), 'subscription { mine { n } }');
  assert.equal(codeOf(await anonymous.untilEnd()), 'UNAUTHENTICATED');

  await gateway.postEvent('bids', { n: 1, ownerId: 'bob' });
  await gateway.postEvent('bids', { n: 2, ownerId: 'ann' });
  await own.until(2);
  await mine.until(1);
  assert.deepEqual(mine.results, [{ data: { mine: { n: 2 } } }]);
});

test('subscriptions, queries over WebSocket and POST give a guarded field only to those who may use it', async (t) => {
  const gateway = await ready();
  const [guest, admin] = ['bidder', 'admin'].map((role) => connectAs(t, gateway, { id: role, role }));
  assert.ok(guest && admin);
  const [guestBids, adminBids] = [guest, admin].map(
    (client) => new Received(client, 'subscription { bid { n reserve } }'),
  );
  await gateway.untilMetric('sluice_subscribers', 2);
  await gateway.postEvent('bids', { n: 1, reserve: 9 });
  await guestBids?.until(1);
  await adminBids?.until(1);
  assert.deepEqual(guestBids?.results, [
    { errors: [refusal(['bid', 'reserve'], 'Bid.reserve')], data: { bid: { n: 1, reserve: null } } },
  ]);
  assert.deepEqual(adminBids?.results, [{ data: { bid: { n: 1, reserve: 9 } } }]);

  for (const [query, path, coordinate, value] of [
    ['{ secret }', 'secret', 'Query.secret', 'secret'],
    ['mutation { close }', 'close', 'Mutation.close', 'closed'],
  ] as const) {
    const expected = { errors: [refusal([path], coordinate)], data: { [path]: null } };
    const asked: Received[] = [guest, admin].map((client) => new Received(client, query));
    for (const received of asked) await received.until(1);
    assert.deepEqual(asked[0]?.results, [expected]);
    assert.deepEqual(asked[1]?.results, [{ data: { [path]: value } }]);
    const post = async (role: string): Promise<unknown> => {
      const response = await fetch(gateway.graphqlUrl.replace(/^ws/, 'http'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-role': role },
        body: JSON.stringify({ query }),
      });
      return response.json();
    };
    assert.deepEqual(await post('bidder'), expected);
    assert.deepEqual(await post('admin'), { data: { [path]: value } });
  }
});
