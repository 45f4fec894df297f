import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { testGateway } from '../../../../src/testing/testing.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const SCHEMA = `
  scalar Long
  scalar Money @digits
  type Subscription {
    bid(id: Long): Bid @event(topic: "bids", key: "id")
    large(min: Long, any: [Long!]): Bid @event(topic: "bids") @filter(where: { id: { gte: "$min", in: "$any" } })
    priced(price: Money): Bid @event(topic: "bids") @filter(where: { price: { eq: "$price" } })
  }
  type Bid { id: Long, price: Money, part: Float, whole: Int, ids: [Long!] }`;

async function gatewayOf(t: TestContext, code?: string) {
  const files = { 'schema.graphql': SCHEMA, ...(code !== undefined && { 'graph.ts': code }) };
  const gateway = await testGateway(await graphFolder(t, files));
  t.after(() => gateway.close());
  return gateway;
}

const BIG = '9007199254740993';

describe('numbers with all digits', () => {
  it('are text in results, however large they are, and in lists', async (t) => {
    const gateway = await gatewayOf(t);
    const { results } = gateway.subscribe('subscription { bid { id price part whole ids } }');
    await gateway.publish(
      'bids',
      Buffer.from(`{"id":${BIG},"price":12.50,"part":0.1,"whole":3,"ids":[1,-${BIG}]}`),
    );
    const expected = { id: BIG, price: '12.50', part: 0.1, whole: 3, ids: ['1', `-${BIG}`] };
    assert.deepEqual(results, [{ data: { bid: expected } }]);
  });

  it('pick events by a key, as a literal and as a text, with zeros and a sign before them or not', async (t) => {
    const gateway = await gatewayOf(t);
    const watched = [BIG, `"${BIG}"`, `"+00${BIG}"`].map((id) =>
      gateway.subscribe(`subscription { bid(id: ${id}) { id } }`),
    );
    const other = gateway.subscribe('subscription { bid(id: "9007199254740992") { id } }');
    await gateway.publish('bids', Buffer.from(`{"id":${BIG}}`));
    for (const { results } of watched) assert.deepEqual(results, [{ data: { bid: { id: BIG } } }]);
    assert.deepEqual(other.results, []);
  });

  it('are compared as numbers by filters', async (t) => {
    const gateway = await gatewayOf(t);
    const passed = (args: string) => gateway.subscribe(`subscription { large${args} { id } }`).results;
    const results = {
      least: passed(`(min: ${BIG})`),
      more: passed('(min: "9007199254740994")'),
      small: passed('(min: 9)'),
      any: passed(`(any: ["1", "00${BIG}"])`),
      none: passed('(any: ["9007199254740992"])'),
    };
    await gateway.publish('bids', Buffer.from(`{"id":${BIG}}`));
    await gateway.publish('bids', Buffer.from('{"id":10}'));
    const ids = Object.entries(results).map(([name, all]) => [name, all.length]);
    assert.deepEqual(Object.fromEntries(ids), { least: 1, more: 0, small: 2, any: 1, none: 0 });
    const { results: priced } = gateway.subscribe('subscription { priced(price: 12.5) { price } }');
    await gateway.publish('bids', Buffer.from('{"price":12.500}'));
    assert.deepEqual(priced, [{ data: { priced: { price: '12.500' } } }]);
  });

  for (const [what, value] of [
    ['a number that JSON has rounded', 2 ** 53],
    ['another text', 'nine'],
    ['an object', {}],
  ] as const) {
    it(`are not taken from ${what} as a variable`, async (t) => {
      const gateway = await gatewayOf(t);
      const subscribe = () =>
        gateway.subscribe('subscription ($id: Long) { bid(id: $id) { id } }', { id: value });
      assert.throws(subscribe, /expected a number/);
    });
  }

  it('are an error at a field that holds something else', async (t) => {
    const gateway = await gatewayOf(t);
    const { results } = gateway.subscribe('subscription { bid { id price } }');
    await gateway.publish('bids', { id: 'x', price: true });
    assert.deepEqual(results[0]?.data, { bid: { id: null, price: null } });
    assert.equal(results[0].errors?.length, 2);
  });

  it('go to the code of a graph that has some for the scalar', async (t) => {
    const gateway = await gatewayOf(
      t,
      `import { defineGraph } from 'sluice';
       export default defineGraph({ resolvers: { Long: { serialize: (value: unknown) => 'n' + String(value) } } });`,
    );
    const { results } = gateway.subscribe('subscription { bid { id } }');
    await gateway.publish('bids', Buffer.from(`{"id":${BIG}}`));
    assert.deepEqual(results, [{ data: { bid: { id: `n${BIG}` } } }]);
  });
});
