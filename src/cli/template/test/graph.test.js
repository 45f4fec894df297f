import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { testGateway } from 'sluice/testing';

const GRAPH = path.join(import.meta.dirname, '../graph');

test('a change of an order reaches those who watch it, with tax', async (t) => {
  const gateway = await testGateway(GRAPH);
  t.after(() => gateway.close());
  const watched = gateway.subscribe(
    'subscription { order_changed(order_id: "7") { status total_with_tax } }',
  );
  await gateway.publish('orders', { orderId: 7, status: 'PAID', totalAmount: 10 });
  await gateway.publish('orders', { orderId: 8, status: 'PAID', totalAmount: 10 });
  assert.deepEqual(watched.results, [{ data: { order_changed: { status: 'PAID', total_with_tax: 12 } } }]);
});
