import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { KeptEntities } from '../../../../src/graph/entities/kept-entities.ts';
import type { FakeBackend } from '../../../../src/testing/fake-backends.ts';
import { testGateway } from '../../../../src/testing/testing.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';
import { Subgraph } from '../../../helpers/subgraph.ts';

/** What has been found in joined fields by reading and by trying to break them. */

interface Given {
  /** The types beside Order. */
  readonly types: string;
  readonly order?: string;
  readonly resolvers?: string;
  readonly backends: Readonly<Record<string, FakeBackend>>;
  readonly settings?: Readonly<Record<string, string>>;
}

async function gatewayWith(
  t: TestContext,
  { types, order, resolvers = '{}', backends, settings = {} }: Given,
) {
  const names = Object.keys(backends).map((name) => `${name}: { url: 'http://${name}.invalid' }`);
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { order: Order @event(topic: "orders") }
      type Order { id: ID, product: Product, products: [Product!], ${order ?? ''} }
      ${types}`,
    'graph.ts': `
      import { defineGraph } from 'sluice';
      export default defineGraph({ backends: { ${names.join()} }, resolvers: ${resolvers} });`,
  });
  const gateway = await testGateway(folder, { backends, settings });
  t.after(() => gateway.close());
  return gateway;
}

/** The results of subscriptions to the order, for one event. */
async function resultsOf(
  t: TestContext,
  given: Given,
  event: object,
  ...selections: readonly string[]
): Promise<{ data: unknown; errors: unknown }[]> {
  const gateway = await gatewayWith(t, given);
  const subscriptions = selections.map((selection) =>
    gateway.subscribe(`subscription { order ${selection} }`),
  );
  await gateway.publish('orders', event);
  return subscriptions.map(({ results: [result] }) => ({
    data: result?.data?.['order'],
    errors: result?.errors?.map(({ path, message }) => `${path?.join('.')}: ${message}`),
  }));
}

const ONE = { product: { upc: '1' } };

const PRODUCT = 'type Product @key(fields: "upc") @entity(backend: "shop")';

/** A subgraph with products. */
function shop(
  sdl: string,
  fields: Readonly<Record<string, (source: never, args: never) => unknown>>,
): Subgraph {
  return new Subgraph(`type Query { none: Int } ${sdl}`, { Product: fields }, ['Product'], ({ upc }) => ({
    upc,
  }));
}

/** Answers all products alike. */
const answering =
  (product: object, errors?: readonly object[]): FakeBackend =>
  ({ body }) => {
    const { variables } = body as { variables: { v0: { upc: string }[] } };
    const e0 = variables.v0.map(({ upc }) => ({ __typename: 'Product', _key_Product_upc: upc, ...product }));
    return { data: { e0 }, errors };
  };

describe('a selection that the back end refuses', () => {
  it('fails for the client that sent it, and for no other', async (t) => {
    const sdl = 'scalar Cur type Product { upc: ID! name: String price: Int cost(cur: Cur): Int }';
    const subgraph = shop(sdl, { name: () => 'Lamp', price: () => 3, cost: () => 4 });
    const backend: FakeBackend = (call) => {
      const { query } = call.body as { query: string };
      if (!query.includes('"eur"')) return subgraph.answer(call);
      throw Object.assign(new Error('Bad Request'), { code: 'BACKEND_REJECTED', status: 400 });
    };
    const types = `scalar Cur ${PRODUCT} {
      upc: ID!, name: String @fetched, price: Int @fetched, cost(cur: Cur): Int @fetched }`;
    const [bad, good] = await resultsOf(
      t,
      { types, backends: { shop: backend } },
      ONE,
      '{ product { cost(cur: "eur") } }',
      '{ product { name price } }',
    );
    assert.deepEqual(good, { data: { product: { name: 'Lamp', price: 3 } }, errors: undefined });
    assert.deepEqual(bad, {
      data: { product: { cost: null } },
      errors: ['order.product.cost: The back end shop rejected the request.'],
    });
  });

  it('fails by a lookup that makes all data null, and no other entity with it', async (t) => {
    const subgraph = new Subgraph(
      'type Query { must(upc: ID!): Product! } type Product { upc: ID! name: String }',
      {
        Query: {
          must: (_: unknown, { upc }: { upc: string }) => {
            if (upc === 'ghost') throw new Error('no such product');
            return { upc, name: `Lamp ${upc}` };
          },
        },
      },
    );
    const types = `type Product @key(fields: "upc") @entity(backend: "shop", lookup: "must(upc: $upc)") {
      upc: ID!, name: String @fetched }`;
    const [result] = await resultsOf(
      t,
      { types, backends: { shop: subgraph.answer } },
      { products: [{ upc: '1' }, { upc: 'ghost' }, { upc: '2' }] },
      '{ products { name } }',
    );
    assert.deepEqual(result?.data, { products: [{ name: 'Lamp 1' }, { name: null }, { name: 'Lamp 2' }] });
    assert.deepEqual(result?.errors, ['order.products.1.name: no such product']);
  });
});

describe('a back end that refuses everything', () => {
  it('is asked a bounded number of times for an event', async (t) => {
    let requests = 0;
    const refuses: FakeBackend = () => {
      requests += 1;
      return { errors: [{ message: 'no' }] };
    };
    const types = `${PRODUCT} { upc: ID!, says(n: Int): String @fetched }`;
    const many = Array.from({ length: 300 }, (_, n) => `a${n}: says(n: ${n})`).join(' ');
    const settings = { MAX_ALIASES: '1000', MAX_FIELDS: '1000', MAX_COST: '100000' };
    const given = { types, backends: { shop: refuses }, settings };
    const [result] = await resultsOf(t, given, ONE, `{ product { ${many} } }`);
    assert.equal((result?.errors as unknown[] | undefined)?.length, 300);
    assert.equal(requests, 63);
  });
});

describe('what leaves and stays, at its bounds', () => {
  it('is asked for in two requests, from 2,001 fields on', async (t) => {
    const subgraph = shop('type Product { upc: ID! name: String }', {
      name: ({ upc }: { upc: string }) => `Lamp ${upc}`,
    });
    const types = `${PRODUCT} { upc: ID!, name: String @fetched }`;
    for (const [count, requests] of [
      [2_000, 1],
      [2_001, 2],
    ] as const) {
      subgraph.requests.length = 0;
      const products = Array.from({ length: count }, (_, upc) => ({ upc }));
      const given = { types, backends: { shop: subgraph.answer } };
      const [result] = await resultsOf(t, given, { products }, '{ products { name } }');
      assert.equal(result?.errors, undefined);
      assert.equal(subgraph.requests.length, requests);
    }
  });

  it('is kept up to a number of characters, the latest', () => {
    const kept = new KeptEntities(() => 0);
    for (let index = 0; index < 20; index += 1) kept.set(`k${index}`, 'x'.repeat(1_000_000), 1_000);
    const held = Array.from({ length: 20 }, (_, index) => kept.get(`k${index}`) !== undefined);
    assert.deepEqual(held, [...Array<boolean>(13).fill(false), ...Array<boolean>(7).fill(true)]);
    kept.set('too large', 'x'.repeat(9_000_000), 1_000);
    assert.equal(kept.get('too large'), undefined);
  });
});

describe('a field that has not come, as another one has made its object null', () => {
  it('is asked for again, where its own object is shown', async (t) => {
    // The back end knows no null for the name, this graph does: only there the product is null.
    const subgraph = shop('type Product { upc: ID! name: String! price: Int }', {
      name: () => {
        throw new Error('no name');
      },
      price: () => 3,
    });
    const types = `${PRODUCT} { upc: ID!, name: String @fetched, price: Int @fetched }`;
    const given = { types, backends: { shop: subgraph.answer } };
    const [name, price, both] = await resultsOf(
      t,
      given,
      ONE,
      '{ product { name } }',
      '{ product { price } }',
      '{ product { name price } }',
    );
    assert.deepEqual(name, { data: { product: { name: null } }, errors: ['order.product.name: no name'] });
    assert.deepEqual(price, { data: { product: { price: 3 } }, errors: undefined });
    assert.deepEqual(both?.data, { product: { name: null, price: 3 } });
    assert.equal(subgraph.requests.length, 2);
  });

  it('is asked for no more, where the object is null in any case', async (t) => {
    const subgraph = shop('type Product { upc: ID! name: String! price: Int }', {
      name: () => {
        throw new Error('no name');
      },
      price: () => 3,
    });
    const types = `${PRODUCT} { upc: ID!, name: String! @fetched, price: Int @fetched }`;
    const gateway = await gatewayWith(t, { types, backends: { shop: subgraph.answer } });
    const { results } = gateway.subscribe('subscription { order { product { price name } } }');
    // Often enough to be compiled.
    for (let id = 1; id <= 14; id += 1) {
      await gateway.publish('orders', { id, ...ONE });
      assert.equal(subgraph.requests.length, id);
    }
    assert.deepEqual(results.at(-1)?.data, { order: { product: null } });
  });
});

describe('code of the graph', () => {
  it('gives enums and scalars of an answer the values that it gives those of events', async (t) => {
    const types = `enum Kind { LAMP CHAIR } scalar Money
      ${PRODUCT} { upc: ID!, kind: Kind @fetched, kinds: [Kind] @fetched, price: Money @fetched, part: Part @fetched }
      type Part { kind: Kind, shout: String }`;
    const resolvers = `{
      Kind: { LAMP: 1, CHAIR: 2 },
      Money: { serialize: ({ cents }) => String(cents / 100), parseValue: (text) => ({ cents: Number(text) * 100 }) },
      Part: { shout: (part) => 'kind ' + part.kind },
    }`;
    const sdl = `enum Kind { LAMP CHAIR } scalar Money
      type Product { upc: ID! kind: Kind kinds: [Kind] price: Money part: Part } type Part { kind: Kind }`;
    const subgraph = shop(sdl, {
      kind: () => 'CHAIR',
      kinds: () => ['LAMP', null, 'CHAIR'],
      price: () => '1.5',
      part: () => ({ kind: 'CHAIR' }),
    });
    const [result] = await resultsOf(
      t,
      { types, resolvers, backends: { shop: subgraph.answer } },
      ONE,
      '{ product { kind kinds price part { kind shout } } }',
    );
    const part = { kind: 'CHAIR', shout: 'kind 2' };
    const product = { kind: 'CHAIR', kinds: ['LAMP', null, 'CHAIR'], price: '1.5', part };
    assert.deepEqual(result, { data: { product }, errors: undefined });
  });

  it('is not asked for the type of an object, which the back end has told', async (t) => {
    const types = `union Media = Video | Image
      ${PRODUCT} { upc: ID!, media: [Media] @fetched } type Video { duration: Int } type Image { width: Int }`;
    const resolvers = `{
      Media: { __resolveType: (media) => ('duration' in media ? 'Video' : 'Image') },
      Image: { __isTypeOf: (media) => media.width !== undefined },
    }`;
    const sdl = `union Media = Video | Image type Product { upc: ID! media: [Media] }
      type Video { duration: Int } type Image { width: Int }`;
    const media = [{ __typename: 'Video' }, { __typename: 'Image' }];
    const subgraph = shop(sdl, { media: () => media });
    const [result] = await resultsOf(
      t,
      { types, resolvers, backends: { shop: subgraph.answer } },
      ONE,
      '{ product { media { __typename } } }',
    );
    assert.deepEqual(result, { data: { product: { media } }, errors: undefined });
  });
});

describe('@auth below a fetched field', () => {
  const types = `${PRODUCT} { upc: ID!, reviews: [Review] @fetched }
    type Review { user_id: ID, text: String, secret: String @auth(owner: { field: "user_id" }) }`;
  const sdl = `type Product { upc: ID! reviews: [Review] } type Review { user_id: ID text: String secret: String }`;
  const subgraph = shop(sdl, { reviews: () => [{ user_id: 'bob', text: 'ann', secret: 'of bob' }] });

  const secretFor = async (t: TestContext, id: string, selection: string): Promise<unknown> => {
    const gateway = await gatewayWith(t, { types, backends: { shop: subgraph.answer } });
    const query = `subscription { order { product { reviews { ${selection} } } } }`;
    const { results } = gateway.subscribe(query, {}, { viewer: { id } });
    await gateway.publish('orders', ONE);
    return JSON.stringify(results[0]?.data);
  };

  it('is judged by what the back end has, and not by what a client calls so', async (t) => {
    assert.doesNotMatch(String(await secretFor(t, 'ann', 'user_id: text secret')), /of bob/);
    assert.match(String(await secretFor(t, 'bob', 'secret')), /"secret":"of bob"/);
  });
});

describe('what a back end is asked for', () => {
  it('has keys of the kind that the schema says, and its defaults', async (t) => {
    const subgraph = shop('type Product { upc: ID! reviews(first: Int = 1): [Int] }', {
      reviews: (_: unknown, { first }: { first: number }) =>
        Array.from({ length: first }, (_one, index) => index),
    });
    const types = `${PRODUCT} { upc: ID!, reviews(first: Int = 3): [Int] @fetched }`;
    const given = { types, backends: { shop: subgraph.answer } };
    const [result] = await resultsOf(t, given, { product: { upc: 7 } }, '{ product { reviews } }');
    assert.deepEqual(result?.data, { product: { reviews: [0, 1, 2] } });
    assert.deepEqual(subgraph.requests[0]?.variables['v0'], [{ __typename: 'Product', upc: '7' }]);
    const gateway = await gatewayWith(t, given);
    const query = 'subscription ($n: Int) { order { product { reviews(first: $n) } } }';
    const [without, two] = [gateway.subscribe(query), gateway.subscribe(query, { n: 2 })];
    await gateway.publish('orders', { product: { upc: '7' } });
    assert.deepEqual(without.results[0]?.data, { order: { product: { reviews: [0, 1, 2] } } });
    assert.deepEqual(two.results[0]?.data, { order: { product: { reviews: [0, 1] } } });
  });

  it('has no interface that only this schema knows, and keys that agree for all members of a union', async (t) => {
    const types = `interface Named { name: String }
      ${PRODUCT} { upc: ID!, owner: Owner @fetched, part: Part @fetched }
      type Part implements Named { name: String }
      union Owner = User | Shop
      type User @key(fields: "id") @entity(backend: "users") { id: ID!, a: Int @fetched }
      type Shop @key(fields: "id") @entity(backend: "users") { id: Int!, b: Int @fetched }`;
    const sdl = `type Product { upc: ID! owner: Owner part: Part } type Part { name: String }
      union Owner = User | Shop type User { id: ID! } type Shop { id: Int! }`;
    const subgraph = shop(sdl, {
      owner: () => ({ __typename: 'Shop', id: 7 }),
      part: () => ({ name: 'bulb' }),
    });
    const users = new Subgraph(
      'type Query { none: Int } type Shop { id: Int! b: Int }',
      { Shop: { b: ({ id }: { id: number }) => id + 1 } },
      ['Shop'],
      ({ id }) => ({ id }),
    );
    const [result] = await resultsOf(
      t,
      { types, backends: { shop: subgraph.answer, users: users.answer } },
      ONE,
      '{ product { owner { __typename ... on Shop { b } } part { ... on Named { name } } } }',
    );
    const product = { owner: { __typename: 'Shop', b: 8 }, part: { name: 'bulb' } };
    assert.deepEqual(result, { data: { product }, errors: undefined });
  });

  it('has texts of lookups as they are written', async (t) => {
    const queries: string[] = [];
    const types = `type Product @key(fields: "upc")
      @entity(backend: "shop", lookup: "product(upc: $upc, note: \\"costs $upc\\")") { upc: ID!, name: String @fetched }`;
    const shopBackend: FakeBackend = ({ body }) => {
      queries.push((body as { query: string }).query);
      return { data: { e0: null } };
    };
    await resultsOf(t, { types, backends: { shop: shopBackend } }, ONE, '{ product { name } }');
    assert.match(queries[0] ?? '', /e0: product\(upc: \$v0, note: "costs \$upc"\)/);
  });

  it('tells a text that holds a control character from a variable', async (t) => {
    const subgraph = shop('type Product { upc: ID! says(text: String): String }', {
      says: (_: unknown, { text }: { text: string }) => JSON.stringify(text),
    });
    const types = `${PRODUCT} { upc: ID!, says(text: String): String @fetched }`;
    const given = { types, backends: { shop: subgraph.answer } };
    const [result] = await resultsOf(t, given, ONE, '{ product { says(text: """a\u0000n\u0000b""") } }');
    assert.deepEqual(result?.data, { product: { says: '"a\\u0000n\\u0000b"' } });
  });
});

describe('an answer that can hardly be used', () => {
  const types = `scalar JSON ${PRODUCT} {
    upc: ID!, name: String @fetched, tags: [String] @fetched, meta: JSON @fetched, reviews: [Review] @fetched }
    type Review { constructor: String, body: String }`;
  const product = { __typename: 'Product', _key_Product_upc: '1' };
  const ask = async (t: TestContext, backend: FakeBackend, selection: string, event: object = ONE) => {
    const [result] = await resultsOf(t, { types, backends: { shop: backend } }, event, selection);
    return result;
  };

  it('fails only for the entity that is a number', async (t) => {
    const e0 = [5, { ...product, _key_Product_upc: '2', f0: 'Lamp' }];
    const result = await ask(
      t,
      () => ({ data: { e0 }, errors: [{ message: 'odd' }] }),
      '{ products { name } }',
      { products: [{ upc: '1' }, { upc: '2' }] },
    );
    assert.deepEqual(result, {
      data: { products: [{ name: null }, { name: 'Lamp' }] },
      errors: ['order.products.0.name: expected an object of Product'],
    });
  });

  it('has an error where a key, or the data, is missing', async (t) => {
    const key = { message: 'no key', path: ['e0', 0, '_key_Product_upc'] };
    const withoutKey = await ask(t, () => ({ data: { e0: [null] }, errors: [key] }), '{ product { name } }');
    assert.deepEqual(withoutKey?.errors, ['order.product.name: no key']);
    const withoutData = await ask(t, () => ({ data: {} }), '{ product { name } }');
    assert.deepEqual(withoutData?.errors, ['order.product.name: expected an answer, got none']);
    const withoutField = await ask(t, () => ({ data: { e0: [product] } }), '{ product { name } }');
    assert.deepEqual(withoutField?.errors, ['order.product.name: expected a value of the field, got none']);
  });

  it('has an error in a scalar of JSON', async (t) => {
    const error = { message: 'within', path: ['e0', 0, 'f0', 'a'] };
    const result = await ask(t, answering({ f0: { a: null } }, [error]), '{ product { meta } }');
    assert.deepEqual(result, { data: { product: { meta: null } }, errors: ['order.product.meta: within'] });
  });

  it('reads no property that all objects have', async (t) => {
    const result = await ask(
      t,
      answering({ f0: [{}] }),
      '{ product { reviews { constructor toString: body } } }',
    );
    const reviews = [{ constructor: null, toString: null }];
    assert.deepEqual(JSON.stringify(result?.data), JSON.stringify({ product: { reviews } }));
    assert.equal(result?.errors, undefined);
  });

  it('is refused if it has too many values, and its errors are looked at only so far', async (t) => {
    const many = await ask(t, answering({ f0: Array(200_000).fill('x') }), '{ product { tags } }');
    assert.deepEqual(many?.errors, ['order.product.tags: expected at most 50000 values, got more']);
    const errors = Array.from({ length: 100_000 }, () => ({ message: 'again', path: ['e0'] }));
    const begun = performance.now();
    const products = Array.from({ length: 1_000 }, (_, upc) => ({ upc }));
    const flooded = await ask(t, () => ({ data: { e0: null }, errors }), '{ products { name } }', {
      products,
    });
    assert.equal([flooded?.errors].flat().length, 1_000);
    assert.ok(performance.now() - begun < 5_000, 'errors times entities');
  });

  it('tells no client a path without end', async (t) => {
    const path = ['e0', 0, 'f0', ...Array(100_000).fill(1)] as unknown[];
    const error = { message: 'long', path };
    const result = await ask(t, answering({ f0: null }, [error]), '{ product { name } }');
    assert.ok(JSON.stringify(result?.errors).length < 1_000);
  });

  it('leaves no promise unhandled, where an item of a list can not be fetched', async (t) => {
    const strict = `${PRODUCT} { upc: ID!, name: String! @fetched }`;
    const failing = answering({ f0: null }, [{ message: 'no name', path: ['e0', 0, 'f0'] }]);
    const given = { types: strict, backends: { shop: failing } };
    const [result] = await resultsOf(t, given, { products: [{ upc: '1' }, {}] }, '{ products { name } }');
    assert.deepEqual(result?.data, { products: null });
  });
});
