import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { testGateway } from '../../../../src/testing/testing.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';
import { Subgraph } from '../../../helpers/subgraph.ts';

async function shopGateway(t: TestContext, forward = '') {
  let version = 1;
  const subgraph = new Subgraph(
    'type Query { none: Int } type Product { upc: ID! name: String }',
    {
      Product: {
        name: ({ upc }: { upc: string }) => {
          if (upc === 'bad') throw new Error('no name');
          return `${upc} ${version++}`;
        },
      },
    },
    ['Product'],
    ({ upc }) => ({ upc }),
  );
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription {
        order: Order @event(topic: "orders")
        product: Product @event(topic: "products")
      }
      type Order { product: Product @reference(fields: "upc") }
      type Product @key(fields: "upc") @entity(backend: "shop", ttl_seconds: 60) { upc: ID!, name: String @fetched }`,
    'graph.ts': `
      import { defineGraph } from 'sluice';
      export default defineGraph({ backends: { shop: { url: 'http://shop.invalid', ${forward} } } });`,
  });
  const gateway = await testGateway(folder, { backends: { shop: subgraph.answer } });
  t.after(() => gateway.close());
  const { results } = gateway.subscribe(
    'subscription { order { product { name } } }',
    {},
    { viewer: { token: 't' } },
  );
  /** @returns the name that an order shows */
  const nameOf = async (upc: string): Promise<unknown> => {
    await gateway.publish('orders', { upc });
    const data = results.at(-1)?.data;
    assert.ok(data);
    const { order } = data as { order: { product: { name: unknown } } };
    return order.product.name;
  };
  return { gateway, subgraph, nameOf };
}

describe('what has been fetched of an entity with ttl_seconds', () => {
  it('is kept for later events, for so long', async (t) => {
    const { gateway, subgraph, nameOf } = await shopGateway(t);
    assert.equal(await nameOf('a'), 'a 1');
    await gateway.advance(59_000);
    assert.equal(await nameOf('a'), 'a 1');
    assert.equal(await nameOf('b'), 'b 2');
    assert.equal(subgraph.requests.length, 2);
    await gateway.advance(2_000);
    assert.equal(await nameOf('a'), 'a 3');
  });

  it('is fetched anew for an event of the entity itself', async (t) => {
    const { gateway, nameOf } = await shopGateway(t);
    const { results } = gateway.subscribe('subscription { product { name } }');
    assert.equal(await nameOf('a'), 'a 1');
    await gateway.publish('products', { upc: 'a' });
    assert.deepEqual(results.at(-1)?.data, { product: { name: 'a 2' } });
    assert.equal(await nameOf('a'), 'a 2');
  });

  it('is not kept if it failed', async (t) => {
    const { subgraph, nameOf } = await shopGateway(t);
    assert.equal(await nameOf('bad'), null);
    assert.equal(await nameOf('bad'), null);
    assert.equal(subgraph.requests.length, 2);
  });

  it('is not kept if values of the viewer were forwarded for it', async (t) => {
    const { nameOf } = await shopGateway(t, "forward: ['token']");
    assert.equal(await nameOf('a'), 'a 1');
    assert.equal(await nameOf('a'), 'a 2');
  });
});
