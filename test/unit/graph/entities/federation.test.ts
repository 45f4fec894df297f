import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { composeServices, type ServiceDefinition } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { join } from 'node:path';
import { GUIDE } from '../../../../examples/auction/guide.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { testGateway } from '../../../../src/testing/testing.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const SCHEMA = `
  "What a shop tells."
  type Subscription {
    "An order changed."
    order_changed(order_id: ID!): Order @event(topic: "orders", key: "order_id") @auth
  }
  type Order @key(fields: "order_id") {
    order_id: ID!
    status: Status
    total: Money
    product: Product @reference(fields: "product_id")
    note: String @deprecated(reason: "Not kept.")
  }
  enum Status { PAID SENT }
  type Money { amount: Float currency: String }
  type Product @key(fields: "upc") @entity(backend: "products") {
    upc: ID!
    price: Float
    name: String @fetched
    reviews(first: Int = 3): [Review!] @fetched
  }
  type Review { body: String author: Author }
  type Author { name: String }
`;

const CODE = `
  import { defineGraph } from 'sluice';
  export default defineGraph({ backends: { products: { url: 'http://products.invalid' } } });
`;

const SDL = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.4", import: ["@key", "@shareable"])

"""What a shop tells."""
type Subscription {
  """An order changed."""
  order_changed(order_id: ID!): Order
}

type Order @key(fields: "order_id", resolvable: false) {
  order_id: ID!
  status: Status @shareable
  total: Money @shareable
  product: Product @shareable
  note: String @deprecated(reason: "Not kept.") @shareable
}

enum Status {
  PAID
  SENT
}

type Money @shareable {
  amount: Float
  currency: String
}

type Product @key(fields: "upc", resolvable: false) {
  upc: ID!
  price: Float @shareable
}
`;

const LINK = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.4", import: ["@key", "@shareable"])`;

const OTHERS = {
  orders: `${LINK}
    type Query { order(id: ID!): Order }
    type Order @key(fields: "order_id") {
      order_id: ID! status: Status @shareable total: Money @shareable product: Product @shareable
      note: String @shareable customer: String
    }
    enum Status { PAID SENT }
    type Money @shareable { amount: Float currency: String }
    type Product @key(fields: "upc", resolvable: false) { upc: ID! }`,
  products: `${LINK}
    type Query { product(upc: ID!): Product }
    type Product @key(fields: "upc") { upc: ID! price: Float @shareable name: String reviews(first: Int = 3): [Review!] }
    type Review { body: String author: Author }
    type Author { name: String }`,
};

function compose(sdls: Readonly<Record<string, string>>) {
  const services: ServiceDefinition[] = Object.entries(sdls).map(([name, sdl]) => ({
    name,
    typeDefs: parse(sdl),
    url: `http://${name}.invalid`,
  }));
  return composeServices(services);
}

const files = { 'schema.graphql': SCHEMA, 'graph.ts': CODE };

describe("a graph's schema as a subgraph", () => {
  it('has what other services are to see of it', async (t) => {
    assert.equal((await loadGraph(await graphFolder(t, files))).subgraphSdl, SDL);
  });

  it('is composed with the schemas of the services that have the entities', async (t) => {
    const { subgraphSdl } = await loadGraph(await graphFolder(t, files));
    const { errors, supergraphSdl } = compose({ ...OTHERS, live: subgraphSdl });
    assert.deepEqual(errors, undefined);
    const supergraph = (supergraphSdl ?? '').replaceAll(/\s+/g, ' ');
    assert.match(
      supergraph,
      /type Subscription @join__type\(graph: LIVE\) \{ """ An order changed. """ order_changed/,
    );
    assert.match(supergraph, /type Product .*name: String @join__field\(graph: PRODUCTS\)/);
  });

  it('is composed, of the bundled auction, with the city guide', async () => {
    const { subgraphSdl } = await loadGraph(join(import.meta.dirname, '../../../../../examples/auction'));
    const { errors, supergraphSdl } = compose({ guide: GUIDE, live: subgraphSdl });
    assert.equal(errors, undefined);
    assert.match(supergraphSdl ?? '', /type District .*prices: DistrictPrices @join__field\(graph: GUIDE\)/s);
  });

  it('is what Query._service gives', async (t) => {
    const gateway = await testGateway(await graphFolder(t, files), {});
    t.after(() => gateway.close());
    assert.deepEqual(await gateway.query('{ _service { sdl } }'), { data: { _service: { sdl: SDL } } });
  });

  it('is not shown to clients that may not read the schema', async (t) => {
    const settings = { INTROSPECTION: 'false' };
    const gateway = await testGateway(await graphFolder(t, files), { settings });
    t.after(() => gateway.close());
    await assert.rejects(gateway.query('{ _service { sdl } }'), /expected no introspection.*got _service/);
  });

  it('is not added to a graph without keys', async (t) => {
    const schema = 'type Subscription { a: A @event(topic: "a") } type A { id: ID }';
    const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': schema }));
    assert.deepEqual(Object.keys(graph.schema.getQueryType()?.getFields() ?? {}), ['sluice']);
  });
});

const reference = (order_id: string) => ({ __typename: 'Order', order_id });

describe('references that a graph resolves', () => {
  const code = `
    import { defineGraph } from 'sluice';
    export default defineGraph({
      backends: { products: { url: 'http://products.invalid' } },
      resolvers: {
        Order: {
          __resolveReference: async ({ order_id }, ctx) =>
            order_id === 'none' ? null : { order_id, status: ctx.viewer.id === 'ann' ? 'PAID' : 'SENT' },
        },
      },
    });
  `;
  const query = `query ($all: [_Any!]!) { _entities(representations: $all) { ... on Order { order_id status } } }`;

  it('are resolved by Query._entities, in their order', async (t) => {
    const folder = await graphFolder(t, { ...files, 'graph.ts': code });
    const gateway = await testGateway(folder, { viewer: { id: 'ann' } });
    t.after(() => gateway.close());
    const all = [reference('7'), reference('none'), { __typename: 'Product', upc: '1' }, reference('8')];
    const { data, errors } = await gateway.query(query, { all });
    const [seven, eight] = [
      { order_id: '7', status: 'PAID' },
      { order_id: '8', status: 'PAID' },
    ];
    assert.deepEqual(data, { _entities: [seven, null, null, eight] });
    assert.deepEqual(
      errors?.map(({ path, extensions }) => [path, extensions['code']]),
      [[['_entities', 2], 'BAD_REPRESENTATION']],
    );
  });

  it('are refused beyond a thousand', async (t) => {
    const folder = await graphFolder(t, { ...files, 'graph.ts': code });
    const gateway = await testGateway(folder);
    t.after(() => gateway.close());
    const ask = async (count: number) => {
      const all = Array.from({ length: count }, (_, id) => reference(String(id)));
      return (await gateway.query(query, { all })).errors?.map(({ message }) => message);
    };
    assert.equal(await ask(1_000), undefined);
    assert.deepEqual(await ask(1_001), ['expected at most 1000 representations, got 1001']);
  });

  it('make the type one that routers may fetch here', async (t) => {
    const folder = await graphFolder(t, { ...files, 'graph.ts': code });
    const { subgraphSdl } = await loadGraph(folder);
    assert.match(subgraphSdl, /type Order @key\(fields: "order_id"\) \{/);
    assert.doesNotMatch(subgraphSdl, /_Any|_Entity|_entities/);
    assert.deepEqual(compose({ ...OTHERS, live: subgraphSdl }).errors, undefined);
  });
});
