import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { testGateway } from '../../../src/testing/testing.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';

const SCHEMA = `
  type Subscription { order: Order @event(topic: "orders"), numbers: [Int] @event(topic: "numbers") }
  type Order { texts: [String], strict: [[Int!]], lists: [[Int]], items: [Item], any: [Any], product: Product }
  type Item { number: Int, list: [Int], text: String!, guarded: Int @auth, thrown: Int, later: Int }
  type Other { id: ID }
  union Any = Item | Other
  type Product @key(fields: "upc") @entity(backend: "shop") { upc: ID, tags: [Boolean] @fetched }`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  const fail = () => { throw new TypeError('not now'); };
  export default defineGraph({
    backends: { shop: { url: 'http://shop.invalid' } },
    resolvers: { Subscription: { numbers: ({ values }) => values }, Item: { thrown: fail, later: async () => fail() } },
  });`;

const MANY = 10_000;
const times = <T>(value: T): T[] => Array.from({ length: MANY }, () => value);

const EVENTS: Readonly<Record<string, readonly [selection: string, event: Record<string, unknown>]>> = {
  'texts of a wrong type': ['texts', { texts: times({}) }],
  'lists of a wrong type': ['lists', { lists: times('a') }],
  'numbers of a wrong type in lists': ['lists', { lists: times(['a']) }],
  'null in lists that hold none': ['strict', { strict: times([null]) }],
  'numbers of a wrong type in objects': ['items { number }', { items: times({ number: 'a' }) }],
  'lists of a wrong type in objects': ['items { list }', { items: times({ list: 1 }) }],
  'null that must not be': ['items { text }', { items: times({}) }],
  'members of a union without a type': ['any { __typename }', { any: times({}) }],
  'members of a union of no type': ['any { __typename }', { any: times({ __typename: 'Query' }) }],
  'fields that the viewer may not use': ['items { guarded }', { items: times({ guarded: 1 }) }],
  'what a resolver throws': ['items { thrown }', { items: times({}) }],
  'what a back end has answered': ['product { tags }', { product: { upc: '1' } }],
};

async function gatewayOf(t: TestContext) {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': GRAPH });
  const product = { __typename: 'Product', _key_Product_upc: '1', f0: times('a') };
  const gateway = await testGateway(folder, { backends: { shop: () => ({ data: { e0: [product] } }) } });
  t.after(() => gateway.close());
  return gateway;
}

/** Counts how often a stack is written: graphql-js does so for each error that it makes of another. */
async function stacksOf(work: () => Promise<void>): Promise<number> {
  const before = Error.prepareStackTrace;
  let stacks = 0;
  Error.prepareStackTrace = (error) => {
    stacks += 1;
    return String(error);
  };
  try {
    await work();
  } finally {
    Error.prepareStackTrace = before;
  }
  return stacks;
}

describe('an execution ends after a thousand errors', () => {
  for (const [what, [selection, event]] of Object.entries(EVENTS)) {
    for (const compiled of [false, true]) {
      it(`${what}, ${compiled ? 'compiled' : 'interpreted'}`, async (t) => {
        const gateway = await gatewayOf(t);
        const { results } = gateway.subscribe(`subscription { order { ${selection} } }`);
        // An operation is compiled when it has run ten times.
        const before = compiled ? 20 : 0;
        for (let run = 0; run < before; run += 1) await gateway.publish('orders', {});
        const stacks = await stacksOf(() => gateway.publish('orders', event));
        const { data, errors = [] } = results.at(-1) ?? {};
        assert.equal(results.length, before + 1);
        assert.equal(errors.length, 1_001);
        assert.deepEqual(errors.at(-1)?.extensions, { code: 'ERRORS_LEFT_OUT' });
        assert.equal(errors.filter(({ path }) => path?.[0] === 'order').length, 1_000);
        // An error of compiled code, and those of graphql-js, which executes the event again.
        assert.ok(stacks < 3_000, `${stacks} stacks`);
        const [values] = Object.values(data?.['order'] ?? {}) as unknown[];
        if (Array.isArray(values)) assert.equal(values.length, MANY);
      });
    }
  }

  it('what a resolver rejects', async (t) => {
    const gateway = await gatewayOf(t);
    const { results } = gateway.subscribe('subscription { order { items { later } } }');
    const stacks = await stacksOf(() => gateway.publish('orders', { items: times({}) }));
    assert.equal(results[0]?.errors?.length, 1_001);
    assert.ok(stacks < 3_000, `${stacks} stacks`);
  });

  it('in the list that a resolver makes of an event', async (t) => {
    const gateway = await gatewayOf(t);
    const { results } = gateway.subscribe('subscription { numbers }');
    await gateway.publish('numbers', { values: times('a') });
    assert.equal(results[0]?.errors?.length, 1_001);
    assert.deepEqual(results[0].data, { numbers: times(null) });
  });

  it('what comes before the last error is executed, and what comes after is null', async (t) => {
    const gateway = await gatewayOf(t);
    const { results } = gateway.subscribe('subscription { order { items { number } lists texts } }');
    const items = [...times({ number: 1 }), ...times({ number: 'a' })];
    await gateway.publish('orders', { items, lists: [[1]], texts: ['a'] });
    const numbers = [...times({ number: 1 }), ...times({ number: null })];
    assert.deepEqual(results[0]?.data, { order: { items: numbers, lists: null, texts: null } });
  });

  it('and the next event has a thousand of its own', async (t) => {
    const gateway = await gatewayOf(t);
    const { results } = gateway.subscribe('subscription { order { texts } }');
    await gateway.publish('orders', { texts: times({}) });
    await gateway.publish('orders', { texts: [...times('a'), {}] });
    assert.deepEqual(results[1]?.data, { order: { texts: [...times('a'), null] } });
    assert.equal(results[1].errors?.length, 1);
  });
});
