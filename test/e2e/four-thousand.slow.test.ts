import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';

const SUBSCRIBERS = 4_000;

test('one event for 4,000 identical subscribers is one execution and 4,000 deliveries', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await startGateway(t, { GRAPH: folder, PING_SECONDS: '0' });
  const sockets = [];
  for (let opened = 0; opened < SUBSCRIBERS; opened += 100) {
    sockets.push(
      ...(await Promise.all(Array.from({ length: 100 }, () => connectAndInit(t, gateway.graphqlUrl)))),
    );
  }
  for (const socket of sockets) socket.subscribe(randomUUID(), 'subscription { item { id n seller_name } }');
  await gateway.untilMetric('sluice_subscribers', SUBSCRIBERS);
  assert.equal(await gateway.metric('sluice_connections'), SUBSCRIBERS);

  await gateway.postEvent('items', { id: 1, n: 2, sellerName: 'Ann' });

  for (const socket of sockets) {
    const next = await socket.until(({ type }) => type === 'next');
    assert.deepEqual(next.payload, { data: { item: { id: '1', n: 2, seller_name: 'Ann' } } });
  }
  assert.equal(await gateway.metric('sluice_executions_total'), 1);
  await gateway.untilMetric('sluice_deliveries_total', SUBSCRIBERS);
});
