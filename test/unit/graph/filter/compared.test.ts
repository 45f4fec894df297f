import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Event } from '../../../../src/events/event.ts';
import { bothFilters } from '../../../../src/graph/auth/subscription.ts';
import type { Arguments } from '../../../../src/graph/graph.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

/** What a field with these directives compares, in short: `@filter amount gte $n(100): 42 fails`. */
async function comparedBy(t: TestContext, directives: string, args: Arguments = {}) {
  const schema = `
    type Subscription { bid(n: Int, text: String): Bid @event(topic: "bids") ${directives} }
    type Bid { amount: Int, note: String, bidder: ID, seller: Seller }
    type Seller { name: String }
  `;
  const graph = `import { defineGraph } from 'sluice'; export default defineGraph({ authenticate: () => ({}) });`;
  const folder = await graphFolder(t, { 'schema.graphql': schema, 'graph.js': graph });
  const binding = (await loadGraph(folder)).bindings.get('bid');
  const filter = bothFilters(binding?.filter?.(args), binding?.access?.(args).filter);
  assert.ok(filter?.compared !== undefined);
  const compare = filter.compared.bind(filter);
  return (event: Event, viewer: Json = {}): string[] => {
    const { directive, compared } = compare(event, viewer);
    return compared.map(
      ({ path, operator, operand, with: value, got, outcome }) =>
        `${directive} ${path} ${operator} ${operand ?? ''}(${value}): ${got} ${outcome}`,
    );
  };
}

test('each comparison has where its value comes from, both values, and how it came out', async (t) => {
  const where =
    '{ amount: { gte: "$n" }, or: [{ note: { eq: "sold" } }, { seller: { name: { eq: "$viewer.name" } } }] }';
  const compared = await comparedBy(t, `@filter(where: ${where})`, { n: 100 });
  const event = { amount: 42, note: 'sold', seller: { name: 'Ann' } };
  assert.deepEqual(compared(event, { name: 'Bob' }), [
    '@filter amount gte $n(100): 42 fails',
    '@filter note eq ("sold"): "sold" holds',
    '@filter seller.name eq $viewer.name("Bob"): "Ann" fails',
  ]);
});

test('what a comparison lacks makes it unknown, and an argument that is absent leaves it out', async (t) => {
  const where =
    '{ amount: { gte: 1 }, note: { eq: "$text" }, bidder: { eq: "$viewer.id" }, not: { seller: { name: { eq: "x" } } } }';
  const compared = await comparedBy(t, `@filter(where: ${where})`, {});
  assert.deepEqual(compared({ note: 'a', bidder: 'ann' }), [
    '@filter amount gte (1): nothing unknown',
    '@filter note eq $text(nothing): "a" left out',
    '@filter bidder eq $viewer.id(nothing): "ann" unknown',
    '@filter seller.name not eq ("x"): nothing unknown',
  ]);
});

test('under not a comparison holds where its opposite fails', async (t) => {
  const compared = await comparedBy(t, '@filter(where: { not: { not: { amount: { eq: 1 } } } })');
  const once = await comparedBy(t, '@filter(where: { not: { amount: { eq: 1 } } })', {});
  assert.deepEqual(compared({ amount: 1 }), ['@filter amount eq (1): 1 holds']);
  assert.deepEqual(once({ amount: 1 }), ['@filter amount not eq (1): 1 fails']);
  assert.deepEqual(once({ amount: 2 }), ['@filter amount not eq (1): 2 holds']);
});

test("the owner that @auth asks for is compared with the viewer's claim", async (t) => {
  const compared = await comparedBy(t, '@auth(owner: { field: "bidder", is: "id" })', {});
  assert.deepEqual(compared({ bidder: 'bob' }, { id: 'ann' }), [
    '@auth bidder owner $viewer.id("ann"): "bob" fails',
  ]);
  assert.deepEqual(compared({ bidder: 'ann' }, { id: 'ann' }), [
    '@auth bidder owner $viewer.id("ann"): "ann" holds',
  ]);
});

test('of @filter and @auth the one is named that keeps the event back', async (t) => {
  const directives = '@filter(where: { amount: { gte: 5 } }) @auth(owner: { field: "bidder", is: "id" })';
  const compared = await comparedBy(t, directives, {});
  const both = (amount: number, bidder: string): string[] => compared({ amount, bidder }, { id: 'ann' });
  assert.deepEqual(both(9, 'bob'), [
    '@auth amount gte (5): 9 holds',
    '@auth bidder owner $viewer.id("ann"): "bob" fails',
  ]);
  assert.deepEqual(both(1, 'ann'), [
    '@filter amount gte (5): 1 fails',
    '@filter bidder owner $viewer.id("ann"): "ann" holds',
  ]);
});

test('long values are shortened', async (t) => {
  const compared = await comparedBy(t, '@filter(where: { note: { eq: "a" } })');
  const [one = ''] = compared({ note: 'x'.repeat(10_000) });
  assert.match(one, /^@filter note eq \("a"\): .{201} fails$/);
});
