import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { GATEWAY_DEFAULTS, runCli, spawnCli, untilListening } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { postJson } from '../helpers/http-exchange.ts';

const schema = (more = '') => `
  type Subscription {
    order_changed(order_id: ID!, min: Int): Order
      @event(topic: "orders", key: "order_id")
      @filter(where: { total: { gte: "$min" } })
    all_orders: Order @event(topic: "orders")
  }
  type Order { order_id: ID! total: Int gross: Int ${more} }`;

const query = (min: number) => `subscription Watch { order_changed(order_id: 7, min: ${min}) { gross } }`;

const code = (gross: string) => `
  import { defineGraph } from 'sluice';
  export default defineGraph({ resolvers: { Order: { gross: ({ total }) => { ${gross} } } } });`;

async function startDev(t: TestContext, folder: string, settings: Record<string, string> = {}) {
  return untilListening(spawnCli(t, ['dev', folder], { ...GATEWAY_DEFAULTS, ...settings }));
}

test('sluice dev prints the way of each event: who got it, who did not, and why', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': schema(),
    'graph.js': code("if (total < 0) throw new Error('no total'); return total * 2;"),
  });
  const gateway = await startDev(t, folder);
  await gateway.untilPrinted(`curl -X POST localhost:${gateway.port}/events/orders `);
  const client = graphqlClient(t, gateway.graphqlUrl);
  const received = [query(-9), query(-9), query(5)].map((text) => new Received(client, text));
  await gateway.untilMetric('sluice_subscribers', 3);
  // An event is printed once it has ended: each is to end before the next.
  for (const [n, order] of [
    { orderId: 7, total: 2 },
    { orderId: 7, total: -1 },
    { orderId: 8 },
    { total: 1 },
  ].entries()) {
    await gateway.postEvent('orders', order);
    await gateway.untilPrinted(`orders #${n} `);
  }
  assert.equal((await postJson(`${gateway.httpUrl}/events/orders`, 'no')).status, 400);
  await gateway.untilPrinted('dead letter');
  await Promise.all(received.slice(0, 2).map((one) => one.until(2)));
  const ways = gateway.printed.slice(gateway.printed.findIndex((line) => line.startsWith('orders #')));
  assert.deepEqual(ways, [
    'orders #0 (published by hand)  order_id: 7  →  sluice:orders, sluice:orders:order_id=7',
    '  order_changed: 2 subscribers of Watch, 1 execution',
    '  order_changed: 1 subscriber of Watch: filtered out',
    '  no client is subscribed to all_orders',
    'orders #1 (published by hand)  order_id: 7  →  sluice:orders, sluice:orders:order_id=7',
    '  order_changed: 2 subscribers of Watch, 1 execution',
    '    error at order_changed.gross: no total',
    '  order_changed: 1 subscriber of Watch: filtered out',
    '  no client is subscribed to all_orders',
    'orders #2 (published by hand)  order_id: 8  →  sluice:orders, sluice:orders:order_id=8',
    '  no client is subscribed to order_changed(order_id: 8)',
    '  no client is subscribed to all_orders',
    'orders #3 (published by hand)  order_id: missing  →  sluice:orders',
    '  routing field order_id missing, so not for order_changed(order_id: …)',
    '  no client is subscribed to all_orders',
    'orders #4 (published by hand)',
    '  dead letter, not_an_object: expected an object, got a string',
  ]);
});

test('sluice dev prints how to publish to a topic that has come with a reload', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': schema() });
  const gateway = await startDev(t, folder);
  const lots = schema().replace(
    'type Subscription {',
    'type Subscription { lot: Order @event(topic: "lots")',
  );
  await writeFile(path.join(folder, 'schema.graphql'), lots);
  await gateway.untilPrinted(`curl -X POST localhost:${gateway.port}/events/lots `);
});

test('sluice dev is one process, and settings of the environment stay in force', async (t) => {
  const { code: exit, stderr } = await runCli(t, ['dev'], { WORKERS: '2', REDIS_URL: 'redis://localhost' });
  assert.equal(exit, 1);
  assert.match(stderr, /WORKERS: expected 1 for sluice dev, got 2/);
  const folder = await graphFolder(t, { 'schema.graphql': schema() });
  const gateway = await startDev(t, folder, { WATCH_GRAPH: 'false', GRAPHIQL: 'false' });
  await gateway.untilPrinted('loaded anew on SIGHUP');
  const page = await fetch(gateway.httpUrl, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 404);
});
