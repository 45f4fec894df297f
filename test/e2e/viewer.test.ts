import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import type { Scope } from '../helpers/scope.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const SCHEMA = `
  type Query { me: String, seller(id: ID!): Seller }
  type Subscription {
    bid: Bid @event(topic: "bids")
    watched: Bid @event(topic: "bids") @filter(where: { watchers: { contains: "$viewer.id" } })
    alone: Bid @event(topic: "bids", sharing: NEVER)
  }
  type Bid { n: Int, bidder_id: ID, watchers: [ID!], is_mine: Boolean, role: String, seller: Seller, token_seller: Seller }
  type Seller { id: ID, full_name: String }
`;

const GRAPH = `
  import DataLoader from 'dataloader';
  import { defineGraph, primeWith, urlPath } from 'sluice';
  export default defineGraph({
    authenticate: ({ id, role, broken }, request) => {
      if (role === 'banned') return null;
      if (broken) return new Date();
      return { id, role, via: request.headers['user-agent'] ?? 'ws', token: 'token-of-' + id };
    },
    backends: {
      sellers: { url: process.env.SELLERS_URL },
      secure: { url: process.env.SELLERS_URL, forward: ['token'] },
    },
    loaders: (ctx) => Proxy.lazy({
      seller: new DataLoader((ids) => ctx.backends.sellers.post('/batch', { ids })),
    }),
    primers: (ctx) => Proxy.lazy({ seller: primeWith(ctx.loaders.seller, 'seller', 'id') }),
    resolvers: {
      Query: {
        me: (_root, _args, ctx) => String(ctx.viewer.id),
        seller: (_root, { id }, ctx) => ctx.backends.sellers.get(urlPath\`/one/\${id}\`),
      },
      Bid: {
        is_mine: (bid, _args, ctx) => bid.bidder_id === ctx.viewer.id,
        role: (_bid, _args, ctx) => ctx.viewer.role,
        seller: (bid, _args, ctx) => ctx.loaders.seller.load(bid.seller_id),
        token_seller: (bid, _args, ctx) => ctx.backends.secure.get(urlPath\`/one/\${bid.seller_id}\`),
      },
    },
  });
`;

interface Sellers {
  readonly url: string;
  readonly requests: string[];
}

const seller = (id: string): object => ({ id, fullName: `Seller ${id}` });

/** A back end that records its requests and their tokens. */
async function startSellers(scope: Scope): Promise<Sellers> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''} ${body}`.trim());
      const answer =
        request.url === '/batch'
          ? (JSON.parse(body) as { ids: string[] }).ids.map(seller)
          : seller(request.url?.split('/').at(-1) ?? '');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

let backEnd: Sellers;

const ready = sharedGateway(async (scope) => {
  backEnd = await startSellers(scope);
  const folder = await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.ts': GRAPH });
  return startGateway(scope, { GRAPH: folder, SELLERS_URL: backEnd.url });
});

/** The gateway and the back end that all tests share, with no requests recorded yet. */
async function start(): Promise<{ gateway: GatewayProcess; sellers: Sellers }> {
  const gateway = await ready();
  backEnd.requests.length = 0;
  return { gateway, sellers: backEnd };
}

function connectAs(t: TestContext, gateway: GatewayProcess, connectionParams: Record<string, unknown>) {
  return graphqlClient(t, gateway.graphqlUrl, { connectionParams });
}

test('each viewer gets its own data, and viewers with equal results share one execution', async (t) => {
  const { gateway } = await start();
  const roles = ['a', 'b', 'c'];
  const subscribers = Array.from({ length: 12 }, (_, id) => {
    const client = connectAs(t, gateway, { id: String(id), role: roles[id % 3] });
    return new Received<{ bid: { role: string } }>(client, 'subscription { bid { role } }');
  });
  const mine = new Received<{ bid: { is_mine: boolean } }>(
    connectAs(t, gateway, { id: '5' }),
    'subscription { bid { is_mine } }',
  );
  await gateway.untilMetric('sluice_subscribers', 13);
  await gateway.postEvent('bids', { n: 1, bidderId: '5' });
  for (const [id, received] of subscribers.entries()) {
    await received.until(1);
    assert.equal(received.data[0]?.bid.role, roles[id % 3]);
  }
  await mine.until(1);
  assert.equal(mine.data[0]?.bid.is_mine, true);
  assert.equal(await gateway.metric('sluice_executions_total'), 4);
  assert.equal(await gateway.metric('sluice_unshared_executions_total'), 2);
});

test('a filter on the viewer lets an event through to the viewers whom the event names, in one execution', async (t) => {
  const { gateway } = await start();
  const subscribers = Array.from(
    { length: 6 },
    (_, id) =>
      new Received<{ watched: { n: number } }>(
        connectAs(t, gateway, id === 5 ? {} : { id: String(id) }),
        'subscription { watched { n } }',
      ),
  );
  await gateway.untilMetric('sluice_subscribers', 6);
  await gateway.postEvent('bids', { n: 1, watchers: [0, 1, 2] });
  await gateway.postEvent('bids', { n: 2, watchers: ['3'] });
  await gateway.postEvent('bids', { n: 3, watchers: [0, 1, 2, 3, 4] });
  const expected = [[1, 3], [1, 3], [1, 3], [2, 3], [3], []];
  await Promise.all(subscribers.map((received, id) => received.until(expected[id]?.length ?? 0)));
  assert.deepEqual(
    subscribers.map((received) => received.data.map((data) => data?.watched.n)),
    expected,
  );
  // And no other is on its way.
  assert.equal(await gateway.metric('sluice_deliveries_total'), expected.flat().length);
  assert.equal(await gateway.metric('sluice_executions_total'), 3);
});

test('a field joined from a back end is one request per event, with keys in snake_case, and none where the event carries the data', async (t) => {
  const { gateway, sellers } = await start();
  const query = 'subscription { bid { n is_mine seller { id full_name } } }';
  const subscribers = Array.from(
    { length: 20 },
    (_, id) =>
      new Received<{ bid: { n: number; seller: object } }>(connectAs(t, gateway, { id: String(id) }), query),
  );
  await gateway.untilMetric('sluice_subscribers', 20);
  await gateway.postEvent('bids', { n: 1, sellerId: '7', bidderId: '3' });
  await Promise.all(subscribers.map((received) => received.until(1)));
  assert.deepEqual(sellers.requests, ['POST /batch  {"ids":["7"]}']);
  assert.deepEqual(
    subscribers.map((received) => received.data[0]?.bid),
    subscribers.map((_, id) => ({ n: 1, is_mine: id === 3, seller: { id: '7', full_name: 'Seller 7' } })),
  );
  await gateway.postEvent('bids', { n: 2, sellerId: '8', seller: { id: '8', fullName: 'From the event' } });
  await Promise.all(subscribers.map((received) => received.until(2)));
  assert.deepEqual(subscribers[0]?.data[1]?.bid.seller, { id: '8', full_name: 'From the event' });
  assert.equal(sellers.requests.length, 1);
});

test('a back end that forwards a token gets one request for each distinct token', async (t) => {
  const { gateway, sellers } = await start();
  const subscribers = ['1', '2'].map(
    (id) =>
      new Received(connectAs(t, gateway, { id }), 'subscription { bid { token_seller { full_name } } }'),
  );
  await gateway.untilMetric('sluice_subscribers', 2);
  await gateway.postEvent('bids', { sellerId: '7' });
  await Promise.all(subscribers.map((received) => received.until(1)));
  assert.deepEqual(sellers.requests.toSorted(), [
    'GET /one/7 Bearer token-of-1',
    'GET /one/7 Bearer token-of-2',
  ]);
});

test('a client that authenticate refuses, or for which it returns no plain JSON, is closed with 4403', async (t) => {
  const { gateway } = await start();
  for (const params of [{ role: 'banned' }, { broken: true }]) {
    const end = await new Received(connectAs(t, gateway, params), 'subscription { bid { n } }').untilEnd();
    assert.equal((end as { code?: number }).code, 4403);
  }
  assert.equal(await gateway.metric('sluice_subscribers'), 0);
});

test('queries have a viewer and back ends too, over WebSocket and by POST', async (t) => {
  const { gateway } = await start();
  const received = new Received(connectAs(t, gateway, { id: '9' }), '{ me seller(id: "a/b") { full_name } }');
  await received.until(1);
  assert.deepEqual(received.results[0], { data: { me: '9', seller: { full_name: 'Seller a%2Fb' } } });
  const response = await fetch(`${gateway.httpUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ me }"}',
  });
  assert.deepEqual(await response.json(), { data: { me: 'undefined' } });
});

test('sharing: NEVER executes for each', async (t) => {
  const { gateway } = await start();
  const subscribers = ['1', '2', '3'].map(
    (id) => new Received(connectAs(t, gateway, { id }), 'subscription { alone { n } }'),
  );
  await gateway.untilMetric('sluice_subscribers', 3);
  await gateway.postEvent('bids', { n: 1 });
  await Promise.all(subscribers.map((received) => received.until(1)));
  assert.equal(await gateway.metric('sluice_executions_total'), 3);
});
