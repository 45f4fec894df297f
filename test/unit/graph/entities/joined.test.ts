import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { testGateway } from '../../../../src/testing/testing.ts';
import type { FakeBackend } from '../../../../src/testing/fake-backends.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';
import { Subgraph } from '../../../helpers/subgraph.ts';

const SCHEMA = `
  type Query { order(id: ID!): Order }
  type Subscription {
    order(order_id: ID): Order @event(topic: "orders", key: "order_id")
  }
  type Order @key(fields: "order_id") {
    order_id: ID!
    status: String
    product: Product @reference(fields: "product_id")
    gift: Product
    parts: [Product] @reference(fields: "part_ids")
  }
  type Product @key(fields: "upc") @entity(backend: "products") {
    upc: ID!
    price: Float
    name: String @fetched
    reviews(first: Int = 3): [Review!] @fetched
    maker: User @fetched
  }
  type Review { body: String stars: Int! author: User }
  type User @key(fields: "id org { code }") @entity(backend: "users") {
    id: ID!
    org: Org!
    name: String @fetched
    favourite: Product @fetched
  }
  type Org { code: ID! }
`;

const PRODUCTS = `
  type Query { product(upc: ID!): Product }
  type Product { upc: ID! name: String reviews(first: Int = 3): [Review!] maker: User }
  type Review { body: String stars: Int! author: User }
  type User { id: ID! org: Org! }
  type Org { code: ID! }
`;
const USERS = `
  type Query { none: Int }
  type User { id: ID! org: Org! name: String favourite: Product }
  type Org { code: ID! }
  type Product { upc: ID! }
`;

const ann = { id: 'u1', org: { code: 'o1' } };
const REVIEWS = [
  { body: 'Bright.', stars: 5, author: ann },
  { body: 'Broken.', stars: 1, author: { id: 'u2', org: { code: 'o1' } } },
];

function products(): Subgraph {
  return new Subgraph(
    PRODUCTS,
    {
      Product: {
        name: ({ upc }) => {
          if (upc === 'bad') throw new Error('name: no database');
          return `Product ${String(upc)}`;
        },
        reviews: (_, { first }) => REVIEWS.slice(0, Number(first)),
        maker: () => ann,
      },
    },
    ['Product'],
    ({ upc }) => (upc === 'gone' ? null : { upc }),
  );
}

function users(): Subgraph {
  return new Subgraph(
    USERS,
    {
      User: {
        name: ({ id, org }) => `${String(id)} of ${(org as { code: string }).code}`,
        favourite: () => ({ upc: '1' }),
      },
    },
    ['User'],
    ({ id, org }) => ({ id, org }),
  );
}

const CODE = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    backends: {
      products: { url: 'http://products.example/graphql' },
      users: { url: 'http://users.example/graphql' },
    },
    resolvers: { Query: { order: (_, { id }) => ({ order_id: id, product_id: '1' }) } },
  });
`;

async function gatewayWith(t: TestContext, backends: Readonly<Record<string, FakeBackend>>) {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': CODE });
  const gateway = await testGateway(folder, { backends });
  t.after(() => gateway.close());
  return gateway;
}

describe('a joined field', () => {
  it('is fetched for the product that an event names, with what the client selects of it', async (t) => {
    const [shop, people] = [products(), users()];
    const gateway = await gatewayWith(t, { products: shop.answer, users: people.answer });
    const { results } = gateway.subscribe(
      `subscription ($few: Int!) {
        order {
          status
          product { upc title: name price reviews(first: $few) { ...R } }
          gift { price name maker { name favourite { name } } }
        }
      }
      fragment R on Review { s: stars author { id who: name } }`,
      { few: 2 },
    );
    await gateway.publish('orders', {
      orderId: 7,
      status: 'PAID',
      productId: '1',
      gift: { upc: '2', price: 3.5 },
    });
    assert.deepEqual(results, [
      {
        data: {
          order: {
            status: 'PAID',
            product: {
              upc: '1',
              title: 'Product 1',
              price: null,
              reviews: [
                { s: 5, author: { id: 'u1', who: 'u1 of o1' } },
                { s: 1, author: { id: 'u2', who: 'u2 of o1' } },
              ],
            },
            gift: {
              price: 3.5,
              name: 'Product 2',
              maker: { name: 'u1 of o1', favourite: { name: 'Product 1' } },
            },
          },
        },
      },
    ]);
    // Both products, then all users; the favourite's name has come with the first request.
    assert.equal(shop.requests.length, 1);
    assert.equal(people.requests.length, 1);
    assert.deepEqual(
      shop.requests.map(({ query, variables }) => ({ query: query.replace(/\s+/g, ' '), variables })),
      [],
    );
  });
});
