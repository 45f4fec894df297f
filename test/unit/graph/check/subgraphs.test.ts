import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { buildASTSchema, parse } from 'graphql';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';
import { graphJs } from './cases.ts';

const SCHEMA = `type Subscription { order: Order @event(topic: "orders") }
type Order { product: Product }
type Product @key(fields: "upc shop { code }") @entity(backend: "products") {
  upc: ID!
  shop: Shop!
  price: Float
  name: String @fetched
  tags: [String!] @fetched
  reviews(first: Int = 3, sort: Sort): [Review!] @fetched
  maker: Party @fetched
}
type Shop { code: ID! }
enum Sort { NEW OLD }
type Review { body: String state: State author: User }
enum State { OPEN }
union Party = User
type User @key(fields: "id") @entity(backend: "users") { id: ID!, name: String @fetched, local: Int }
`;

const REMOTE = `
  type Query { product(upc: ID!): Product products: [Product] }
  type Product @key(fields: "upc shop { code }") {
    upc: ID! shop: Shop! name: String tags: [String!]
    reviews(first: Int = 3, sort: Sort): [Review!] maker: Party
  }
  type Shop { code: ID! }
  enum Sort { NEW OLD }
  type Review { body: String state: State author: User }
  enum State { OPEN }
  union Party = User
  type User @key(fields: "id", resolvable: false) { id: ID! }
`;

const CODE = graphJs(
  "{ backends: { products: { url: 'http://p.invalid' }, users: { url: 'http://u.invalid' } } }",
);

/** @returns `line:column severity: message` of each finding */
async function findings(
  t: TestContext,
  { remote = REMOTE, schema = SCHEMA, backend = 'products' },
): Promise<string[]> {
  const folder = await graphFolder(t, { 'schema.graphql': schema, 'graph.js': CODE });
  const there = buildASTSchema(parse(remote), { assumeValid: true, assumeValidSDL: true });
  const found = await checkGraph(folder, { subgraphs: [{ backend, schema: there }] });
  return found.map(({ line, column, severity, message }) => `${line}:${column} ${severity}: ${message}`);
}

const LOOKED_UP = SCHEMA.replace('upc shop { code }', 'upc').replace(
  '"products")',
  '"products", lookup: "product(upc: $upc)")',
);

describe('sluice check, of what is fetched and the schema of its back end,', () => {
  it('finds nothing wrong where the back end has all that can be asked for', async (t) => {
    assert.deepEqual(await findings(t, {}), []);
    assert.deepEqual(await findings(t, { schema: LOOKED_UP }), []);
  });

  for (const [name, before, after, said] of [
    [
      'a type that is not there',
      'Product',
      'Item',
      '3:1 error: the back end products has no object type Product',
    ],
    ['a field that is not there', 'name: String', '', '7:3 error: the back end products has no Product.name'],
    [
      'a key that is not there',
      'upc: ID! shop',
      'shop',
      '4:3 error: the back end products has no Product.upc, a field of the key',
    ],
    [
      'a nested key that is not there',
      'code: ID!',
      'id: ID!',
      '12:13 error: the back end products has no Shop.code, a field of the key',
    ],
    [
      'another type',
      'tags: [String!]',
      'tags: String',
      '8:3 error: Product.tags is of type [String!], but String in the back end products',
    ],
    [
      'null in a list',
      'tags: [String!]',
      'tags: [String]',
      '8:3 warning: Product.tags is of type [String!], but may be null in the back end products: [String]',
    ],
    [
      'an argument that is not there',
      'first: Int = 3, ',
      '',
      '9:11 error: Product.reviews(first: Int): the back end products has none of that name',
    ],
    [
      'an argument of another type',
      'first: Int = 3',
      'first: String',
      '9:11 error: Product.reviews(first: Int): the back end products has String',
    ],
    [
      'an argument that may not be null there',
      'sort: Sort)',
      'sort: Sort!)',
      '9:27 error: Product.reviews(sort: Sort): the back end products has Sort!',
    ],
    [
      'an argument that is needed there',
      'sort: Sort)',
      'sort: Sort, page: Int!)',
      '9:3 error: Product.reviews lacks the argument page: Int!, which the back end products needs',
    ],
    [
      'a field below a fetched one that is not there',
      'body: String',
      '',
      '14:15 error: the back end products has no Review.body',
    ],
    [
      'the key of another entity that is not there',
      '{ id: ID! }',
      '{ uid: ID! }',
      '17:58 error: the back end products has no User.id, a field of the key',
    ],
    [
      'values of an enum that are not here',
      'enum State { OPEN }',
      'enum State { OPEN SOLD GONE }',
      '15:1 warning: State lacks SOLD and GONE of the back end products',
    ],
    [
      'a member of a union that is not here',
      'union Party = User',
      'union Party = User | Company type Company { id: ID }',
      '16:1 warning: Party lacks Company, which is one in the back end products',
    ],
  ] as const) {
    it(`points at ${name}`, async (t) => {
      assert.ok(REMOTE.includes(before));
      assert.deepEqual(await findings(t, { remote: REMOTE.replaceAll(before, after) }), [said]);
    });
  }

  it('compares input objects, and the values of enums in arguments', async (t) => {
    const schema = SCHEMA.replace('sort: Sort)', 'sort: Sort, page: Page)').replace(
      'enum Sort',
      'input Page { size: Int, from: Int }\nenum Sort',
    );
    const remote = REMOTE.replace('sort: Sort)', 'sort: Sort, page: Page)').replace(
      'enum Sort { NEW OLD }',
      'enum Sort { NEW } input Page { size: String to: Int! }',
    );
    assert.deepEqual(await findings(t, { schema, remote }), [
      '9:27 error: Product.reviews(sort:): the back end products lacks OLD of Sort',
      '9:39 error: Product.reviews(page:): Page.size is of type Int, but the back end products has String',
      '9:39 error: Product.reviews(page:): Page.from is of type Int, but the back end products has none of that name',
      '9:39 error: Product.reviews(page:): Page lacks to: Int!, which the back end products needs',
    ]);
  });

  it('points at a member of a union, and at a key, that the back end does not have', async (t) => {
    const schema = SCHEMA.replace('union Party = User', 'union Party = User | Firm\ntype Firm { id: ID }');
    assert.deepEqual(await findings(t, { schema }), [
      '17:1 error: Firm is no Party in the back end products',
    ]);
    const remote = REMOTE.replace('@key(fields: "upc shop { code }")', '@key(fields: "upc")');
    assert.deepEqual(await findings(t, { remote }), [
      '3:1 error: the back end products has no @key(fields: "upc shop { code }") on Product',
    ]);
  });

  it('points at a lookup with other arguments', async (t) => {
    const remote = REMOTE.replace('product(upc: ID!)', 'product(upc: Int!, shop: ID!)');
    const [one, other] = await findings(t, { schema: LOOKED_UP, remote });
    assert.match(one ?? '', /does not take the lookup: .*"shop" of type "ID!" is required/);
    assert.match(
      other ?? '',
      /does not take the lookup: .*"\$upc" of type "ID!" used in position expecting type "Int!"/,
    );
  });

  it('points at a lookup that is not there, or gives several', async (t) => {
    const renamed = LOOKED_UP.replace('"product(', '"item(');
    assert.deepEqual(await findings(t, { schema: renamed }), [
      '3:1 error: the back end products has no Query.item, by which Product is looked up',
    ]);
    const several = LOOKED_UP.replace('"product(', '"products(');
    assert.deepEqual(await findings(t, { schema: several }), [
      '3:1 error: Query.products of the back end products returns [Product]',
    ]);
  });

  it('refuses a back end that the graph does not have', async (t) => {
    assert.deepEqual(await findings(t, { backend: 'shops' }), [
      '1:1 error: the graph has no back end "shops" to be compared',
    ]);
  });
});
