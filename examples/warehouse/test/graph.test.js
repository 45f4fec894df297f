import assert from 'node:assert/strict';
import { beforeEach, afterEach, test } from 'node:test';
import { testGateway } from 'sluice/testing';

const PICKER = { id: 'ann', role: 'picker', warehouses: ['ams'] };

let gateway;
const products = [];

beforeEach(async () => {
  gateway = await testGateway('graph', {
    viewer: PICKER,
    backends: {
      inventory: ({ body }) => {
        products.push(...body.ids);
        return body.ids.map((id) => ({ product_id: id, name: `Product ${id}`, unit: 'piece' }));
      },
    },
  });
});
afterEach(() => gateway.close());

const row = (quantity) => ({
  product_id: 7,
  warehouse_id: 'ams',
  aisle: 'C',
  shelf: 4,
  quantity,
  quality: 'D',
});

const change = (op, before, after) => ({ payload: { op, before, after, ts_ms: 0 } });

test('a row that changes is an event with its product, and one that is deleted has nothing in it', async () => {
  const changes = gateway.subscribe(`subscription {
    stock_changed(product_id: ["7", "8"]) { quantity quality changed_at place { aisle } product { name } }
  }`);
  for (const message of [change('r', null, row(1)), change('u', row(1), row(5)), change('d', row(5), null)]) {
    await gateway.publish('inventory.public.stock', message);
  }
  const stock = {
    quality: 'DAMAGED',
    changed_at: '1970-01-01T00:00:00.000Z',
    place: { aisle: 'C' },
    product: { name: 'Product 7' },
  };
  assert.deepEqual(
    changes.results.map(({ data }) => data.stock_changed),
    [
      { quantity: 5, ...stock },
      { quantity: 0, ...stock },
    ],
  );
});

test('products are not fetched where no subscriber asks for them', async () => {
  products.length = 0;
  const changes = gateway.subscribe('subscription { stock_changed(product_id: ["7"]) { quantity } }');
  await gateway.publish('inventory.public.stock', change('u', row(1), row(5)));
  assert.equal(changes.results.length, 1);
  assert.deepEqual(products, []);
});

test('a shipment is followed to some countries, and who has signed is for dispatchers', async () => {
  const query = `subscription { shipment_moved(countries: ["NL"]) {
    __typename to { city } ... on Delivery { signed_by }
  } }`;
  const dispatcher = gateway.subscribe(query, {}, { viewer: { ...PICKER, role: 'dispatcher' } });
  const picker = gateway.subscribe(query);
  for (const country of ['NL', 'PT']) {
    const to = { city: 'Breda', country };
    await gateway.publish('shipments', { shipmentId: 's1', movedAt: 0, to, signedBy: 'Bob' });
  }
  const moved = { __typename: 'Delivery', to: { city: 'Breda' } };
  assert.deepEqual(dispatcher.results, [{ data: { shipment_moved: { ...moved, signed_by: 'Bob' } } }]);
  assert.deepEqual(picker.results[0].data, { shipment_moved: { ...moved, signed_by: null } });
  assert.equal(picker.results[0].errors[0].extensions.code, 'FORBIDDEN');
});

test('alerts are those of the own warehouses', async () => {
  const alerts = gateway.subscribe('subscription { alert { text is_mine } }');
  for (const [warehouseId, raisedBy] of [
    ['ams', 'ann'],
    ['lis', 'ann'],
    ['ams', 'bob'],
  ]) {
    await gateway.publish('alerts', { alertId: '1', warehouseId, raisedBy, text: 'Leak', raisedAt: 0 });
  }
  assert.deepEqual(
    alerts.results.map(({ data }) => data.alert.is_mine),
    [true, false],
  );
});
