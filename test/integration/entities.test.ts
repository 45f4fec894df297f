import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { embedGateway } from '../helpers/embedded-gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { serveHttp } from '../helpers/local-server.ts';
import { range } from '../helpers/numbers.ts';
import { Subgraph } from '../helpers/subgraph.ts';

const SCHEMA = `
  type Subscription {
    order: Order @event(topic: "orders", keys: KEEP)
    plain: Plain @event(topic: "plain")
  }
  type Order { id: ID, productId: ID, product: Product @reference(fields: "productId") }
  type Product @key(fields: "upc") @entity(backend: "products") { upc: ID!, fullName: String @fetched }
  type Plain { n: Int }
`;

type Respond = (response: ServerResponse, headers: IncomingHttpHeaders, upc: string) => boolean;

/** A subgraph with products, each request with its headers. @param respond answers in its place, if it returns true */
async function products(t: TestContext, respond: Respond = () => false) {
  const requests: IncomingHttpHeaders[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as { variables: { v0: { upc: string }[] } };
    const { headers } = request;
    requests.push(headers);
    if (respond(response, headers, body.variables.v0[0]?.upc ?? '')) return;
    const subgraph = new Subgraph(
      'type Query { none: Int } type Product { upc: ID! fullName: String }',
      { Product: { fullName: ({ upc }: { upc: string }) => `Lamp ${upc} ${headers.authorization ?? ''}` } },
      ['Product'],
      ({ upc }) => ({ upc }),
    );
    const answered = await subgraph.answer({ method: 'POST', path: '', body, options: {} });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answered));
  };
  const url = await serveHttp(t, (request, response) => void answer(request, response));
  return { url: `${url}/graphql`, requests };
}

const graph = (url: string, backend = '') => `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ token }) => ({ token }),
    backends: { products: { url: '${url}', retries: 0, ${backend} } },
  });
`;

async function gatewayWith(t: TestContext, code: string) {
  return embedGateway(t, { GRAPH: await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': code }) });
}

const ORDER = 'subscription { order { id product { fullName } } }';

describe('an entity of a subgraph', () => {
  it('is asked for once for all subscribers of an event', async (t) => {
    const { url, requests } = await products(t);
    const gateway = await gatewayWith(t, graph(url));
    const clients = range(0, 20).map((n) =>
      graphqlClient(t, gateway.graphqlUrl, { connectionParams: { token: `t${n}` } }),
    );
    const received = clients.flatMap((client) => range(0, 50).map(() => new Received(client, ORDER)));
    await gateway.untilMetric('sluice_subscribers', 1_000);
    await gateway.postEvent('orders', { id: 1, productId: '7' });
    await Promise.all(received.map((each) => each.until(1)));
    assert.ok(
      received.every(
        ({ data }) => JSON.stringify(data) === '[{"order":{"id":"1","product":{"fullName":"Lamp 7 "}}}]',
      ),
      JSON.stringify(received[0]?.results),
    );
    assert.equal(requests.length, 1);
  });

  it('is asked for with the token of each viewer, and shown to no other', async (t) => {
    const { url, requests } = await products(t);
    const gateway = await gatewayWith(t, graph(url, "forward: ['token']"));
    const received = range(0, 100).map((n) => {
      const client = graphqlClient(t, gateway.graphqlUrl, { connectionParams: { token: `t${n % 50}` } });
      return new Received(client, ORDER);
    });
    await gateway.untilMetric('sluice_subscribers', 100);
    await gateway.postEvent('orders', { id: 1, productId: '7' });
    await Promise.all(received.map((each) => each.until(1)));
    for (const [n, { data }] of received.entries()) {
      assert.deepEqual(data, [{ order: { id: '1', product: { fullName: `Lamp 7 Bearer t${n % 50}` } } }]);
    }
    const tokens = requests.map(({ authorization }) => authorization).toSorted();
    assert.deepEqual(
      tokens,
      range(0, 50)
        .map((n) => `Bearer t${n}`)
        .toSorted(),
    );
  });

  it('holds up no other field, and no other event, while its back end hangs', async (t) => {
    const { url } = await products(t, (_response, _headers, upc) => upc === 'hangs');
    const gateway = await gatewayWith(t, graph(url, 'timeoutMs: 2_000'));
    const client = graphqlClient(t, gateway.graphqlUrl);
    const [orders, plain] = [
      new Received(client, ORDER),
      new Received(client, 'subscription { plain { n } }'),
    ];
    await gateway.untilMetric('sluice_subscribers', 2);
    await gateway.postEvent('orders', { id: 1, productId: 'hangs' });
    await gateway.postEvent('plain', { n: 1 });
    await plain.until(1);
    assert.equal(orders.results.length, 0);
    await gateway.postEvent('orders', { id: 2, productId: '7' });
    await orders.until(2);
    assert.deepEqual(orders.data[0], { order: { id: '1', product: { fullName: null } } });
    assert.deepEqual(
      orders.results[0]?.errors?.map(({ path, extensions }) => [path, extensions]),
      [[['order', 'product', 'fullName'], { code: 'BACKEND_TIMEOUT', backend: 'products' }]],
    );
    assert.deepEqual(orders.data[1], { order: { id: '2', product: { fullName: 'Lamp 7 ' } } });
  });

  it('is refused if the answer is too long', async (t) => {
    const { url } = await products(t, (response) => {
      response.end(JSON.stringify({ data: { e0: [{ fullName: 'x'.repeat(10_000_000) }] } }));
      return true;
    });
    const gateway = await gatewayWith(t, graph(url));
    const orders = new Received(graphqlClient(t, gateway.graphqlUrl), ORDER);
    await gateway.untilMetric('sluice_subscribers', 1);
    await gateway.postEvent('orders', { id: 1, productId: '7' });
    await orders.until(1);
    assert.deepEqual(orders.results[0]?.errors?.[0]?.extensions, {
      code: 'BACKEND_BAD_RESPONSE',
      backend: 'products',
    });
  });
});
