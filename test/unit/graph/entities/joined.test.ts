import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Contexts } from '../../../../src/context/event-scope.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { ReadSet } from '../../../../src/lazy/reads.ts';
import { testGateway } from '../../../../src/testing/testing.ts';
import { fakeBackends, type FakeBackend } from '../../../../src/testing/fake-backends.ts';
import { executorFor, prepared } from '../../executor/small-executor.ts';
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
    // Both products, then all users; the favourite's name came with the first request.
    assert.equal(shop.requests.length, 1);
    assert.equal(people.requests.length, 1);
  });

  const NAMES = 'subscription { order { order_id product { name } } }';

  it('is asked for under names that no key of the client can meet', async (t) => {
    const shop = products();
    const gateway = await gatewayWith(t, { products: shop.answer });
    const { results } = gateway.subscribe(`subscription {
      order { product { _key_Product_upc: name __typename: name reviews { _x: body __typename: stars } } }
    }`);
    await gateway.publish('orders', { orderId: 7, productId: '1' });
    const reviews = REVIEWS.map(({ body, stars }) => ({ _x: body, __typename: stars }));
    assert.deepEqual(results, [
      { data: { order: { product: { _key_Product_upc: 'Product 1', __typename: 'Product 1', reviews } } } },
    ]);
    assert.equal(
      shop.requests[0]?.query.replaceAll(/\s+/g, ' '),
      'query LiveEntities($v0: [_Any!]!) { e0: _entities(representations: $v0) { __typename ... on Product { ' +
        '_key_Product_upc: upc f0: name f1: reviews(first: 3) { _x_x: body _x__typename: stars } } } }',
    );
    assert.deepEqual(shop.requests[0]?.variables, { v0: [{ __typename: 'Product', upc: '1' }] });
  });

  it('is fetched once for all who watch, however they ask', async (t) => {
    const shop = products();
    const gateway = await gatewayWith(t, { products: shop.answer });
    const watching = Array.from({ length: 1_000 }, (_, index) =>
      gateway.subscribe(
        index % 2 === 0 ? NAMES : `subscription O${index % 7} { order { product { n: name } } }`,
      ),
    );
    await gateway.publish('orders', { orderId: 7, productId: '1' });
    assert.equal(shop.requests.length, 1);
    assert.ok(watching.every(({ results }) => results.length === 1));
  });

  it('is fetched in one request for all events of a turn', async (t) => {
    const shop = products();
    const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': CODE }));
    const backends = fakeBackends(graph.definition.backends ?? {}, { products: shop.answer }, JSON.parse);
    const contexts = new Contexts({}, { bind: () => backends }, Date.now, graph);
    const executor = executorFor(graph.schema);
    const operation = prepared(executor, NAMES);
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, order) => {
        const event = { order_id: order, product_id: order % 50 };
        const { context } = contexts.scopeOf(event).execution({}, new ReadSet());
        return executor.execute(operation, event, context, {});
      }),
    );
    assert.deepEqual(JSON.parse(JSON.stringify(results[57])), {
      data: { order: { order_id: '57', product: { name: 'Product 7' } } },
    });
    assert.equal(shop.requests.length, 1);
    assert.equal(new Set(shop.requests.flatMap(({ variables }) => variables['v0'])).size, 50);
  });

  it('has the errors of the back end at its places, and null', async (t) => {
    const gateway = await gatewayWith(t, { products: products().answer });
    const { results } = gateway.subscribe(
      'subscription { order { parts { n: name upc } product { name } } }',
    );
    await gateway.publish('orders', { orderId: 7, productId: 'bad', partIds: ['1', 'bad', null, 'gone'] });
    const [{ data, errors } = {}] = results;
    const parts = [{ n: 'Product 1', upc: '1' }, { n: null, upc: 'bad' }, null, { n: null, upc: 'gone' }];
    assert.deepEqual(data, { order: { parts, product: { name: null } } });
    assert.deepEqual(
      errors?.map(({ path, message }) => [path, message]),
      [
        [['order', 'parts', 1, 'n'], 'name: no database'],
        [['order', 'product', 'name'], 'name: no database'],
      ],
    );
  });

  it('has an error where the event holds no key', async (t) => {
    const gateway = await gatewayWith(t, {});
    const { results } = gateway.subscribe('subscription { order { gift { price name } } }');
    await gateway.publish('orders', { orderId: 7, gift: { price: 2 } });
    assert.deepEqual(results[0]?.data, { order: { gift: { price: 2, name: null } } });
    assert.match(
      results[0]?.errors?.[0]?.message ?? '',
      /expected Product with upc, by which it is fetched; got none/,
    );
  });

  it('is what a resolver of the graph reads, by the names of the schema', async (t) => {
    const code = CODE.replace(
      'resolvers: {',
      'resolvers: { Review: { body: (review) => `${review.stars} ${review.body} ${Object.keys(review)}` },',
    );
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': code });
    const gateway = await testGateway(folder, { backends: { products: products().answer } });
    t.after(() => gateway.close());
    const { results } = gateway.subscribe('subscription { order { product { reviews { stars: body } } } }');
    await gateway.publish('orders', { orderId: 7, productId: '1' });
    // A resolver replaces its own field, which it is not given.
    const reviews = [{ stars: '5 undefined stars' }, { stars: '1 undefined stars' }];
    assert.deepEqual(results, [{ data: { order: { product: { reviews } } } }]);
  });

  it('is joined in queries, too', async (t) => {
    const gateway = await gatewayWith(t, { products: products().answer, users: users().answer });
    assert.deepEqual(await gateway.query('{ order(id: 3) { order_id product { name maker { name } } } }'), {
      data: { order: { order_id: '3', product: { name: 'Product 1', maker: { name: 'u1 of o1' } } } },
    });
  });

  it('comes from a query field, where the back end is no subgraph', async (t) => {
    const shop = new Subgraph(PRODUCTS, {
      Query: { product: (_: unknown, { upc }: { upc: string }) => ({ upc }) },
      Product: { name: ({ upc }: { upc: string }) => `Product ${upc}` },
    });
    const schema = SCHEMA.replace(
      '(backend: "products")',
      '(backend: "products", lookup: "product(upc: $upc)")',
    );
    const folder = await graphFolder(t, { 'schema.graphql': schema, 'graph.ts': CODE });
    const gateway = await testGateway(folder, { backends: { products: shop.answer } });
    t.after(() => gateway.close());
    const { results } = gateway.subscribe('subscription { order { parts { name } } }');
    await gateway.publish('orders', { orderId: 7, partIds: ['1', '2', '1'] });
    const parts = ['1', '2', '1'].map((upc) => ({ name: `Product ${upc}` }));
    assert.deepEqual(results, [{ data: { order: { parts } } }]);
    assert.equal(
      shop.requests[0]?.query,
      'query LiveEntities($v0: ID!, $v1: ID!) { ' +
        'e0: product(upc: $v0) { __typename ... on Product { _key_Product_upc: upc f0: name } } ' +
        'e1: product(upc: $v1) { __typename ... on Product { _key_Product_upc: upc f0: name } } }',
    );
  });
});

/** @returns the message of the only error */
async function messageFor(t: TestContext, answer: unknown): Promise<string | undefined> {
  const gateway = await gatewayWith(t, { products: () => answer });
  const { results } = gateway.subscribe('subscription { order { status product { name } } }');
  await gateway.publish('orders', { orderId: 7, status: 'PAID', productId: '1' });
  assert.deepEqual(results[0]?.data, { order: { status: 'PAID', product: { name: null } } });
  assert.deepEqual(
    results[0]?.errors?.map(({ path }) => path),
    [['order', 'product', 'name']],
  );
  return results[0]?.errors?.[0]?.message;
}

describe('a back end that answers something else', () => {
  const product = { __typename: 'Product', _key_Product_upc: '1', f0: 'Lamp' };

  for (const [name, answer, message] of [
    ['nothing', null, 'expected an answer with data'],
    ['text', 'hello', 'expected an answer with data'],
    ['no data', {}, 'expected an answer with data'],
    ['an error', { errors: [{ message: 'no such field' }] }, 'no such field'],
    ['an error without a message', { errors: [7], data: null }, 'an error without a message'],
    ['too few entities', { data: { e0: [] } }, 'expected a list of 1 entities'],
    ['too many entities', { data: { e0: [product, product] } }, 'expected a list of 1 entities'],
    ['no list', { data: { e0: product } }, 'expected a list of 1 entities'],
    ['text for an entity', { data: { e0: ['Lamp'] } }, 'expected an object of Product'],
    [
      'another type',
      { data: { e0: [{ ...product, __typename: 'User' }] } },
      'expected an object of Product, got one of User',
    ],
    ['no type', { data: { e0: [{ f0: 'Lamp' }] } }, 'expected an object of Product, got one of another type'],
    [
      'another entity',
      { data: { e0: [{ ...product, _key_Product_upc: '2' }] } },
      'expected the Product that was asked for, got another one',
    ],
    [
      'no key',
      { data: { e0: [{ __typename: 'Product', f0: 'Lamp' }] } },
      'expected the Product that was asked for, got another one',
    ],
    ['an error for all', { data: { e0: [null] }, errors: [{ message: 'all down' }] }, 'all down'],
    [
      'an error for the list',
      { data: { e0: null }, errors: [{ message: 'no list', path: ['e0'] }] },
      'no list',
    ],
    [
      'an error with a path of nonsense',
      { data: { e0: [null] }, errors: [{ message: 'odd', path: ['e0', 0, 'f0', {}, -1] }] },
      'odd',
    ],
  ] as const) {
    it(`makes an error of the field, if it is ${name}`, async (t) => {
      assert.equal(await messageFor(t, answer), message);
    });
  }

  it('is masked like any other fault', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': CODE });
    const settings = { MASK_ERRORS: 'true' };
    const gateway = await testGateway(folder, { backends: { products: products().answer }, settings });
    t.after(() => gateway.close());
    const { results } = gateway.subscribe('subscription { order { product { name } } }');
    await gateway.publish('orders', { orderId: 7, productId: 'bad' });
    assert.deepEqual(
      results[0]?.errors?.map(({ message, path, extensions }) => ({ message, path, extensions })),
      [
        {
          message: 'Internal server error',
          path: ['order', 'product', 'name'],
          extensions: { code: 'INTERNAL_SERVER_ERROR' },
        },
      ],
    );
  });

  it('is told by its code if it is not there', async (t) => {
    const gateway = await gatewayWith(t, {
      products: () => {
        throw Object.assign(new Error('down'), { code: 'BACKEND_UNAVAILABLE' });
      },
    });
    const { results } = gateway.subscribe('subscription { order { order_id product { name } } }');
    await gateway.publish('orders', { orderId: 7, productId: '1' });
    assert.deepEqual(
      results[0]?.errors?.map(({ path, extensions }) => [path, extensions]),
      [[['order', 'product', 'name'], { code: 'BACKEND_UNAVAILABLE', backend: 'products' }]],
    );
  });
});

describe('a back end that gets the token of the viewer', () => {
  it('is asked for each viewer, and shows none the entities of another', async (t) => {
    const asked: unknown[] = [];
    const code = CODE.replace("/graphql' },", "/graphql', forward: ['token'] },");
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': code });
    const gateway = await testGateway(folder, {
      backends: {
        products: ({ body }) => (
          asked.push(body),
          products().answer({ body, method: 'POST', path: '', options: {} })
        ),
      },
    });
    t.after(() => gateway.close());
    const watching = Array.from({ length: 40 }, (_, index) =>
      gateway.subscribe(
        'subscription { order { product { name } } }',
        {},
        { viewer: { token: `t${index % 20}`, id: index } },
      ),
    );
    await gateway.publish('orders', { orderId: 7, productId: '1' });
    assert.equal(asked.length, 20);
    assert.ok(watching.every(({ results }) => results.length === 1));
  });
});
