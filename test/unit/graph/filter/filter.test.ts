import assert from 'node:assert/strict';
import test, { describe, it, type TestContext } from 'node:test';
import type { Arguments } from '../../../../src/graph/graph.ts';
import type { Event } from '../../../../src/events/event.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import { FilterIndex } from '../../../../src/hub/filter-index.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const ARGUMENTS = `
  n: Int, m: Int, text: String, texts: [String], id: ID, ids: [ID!], state: State, states: [State!], flag: Boolean, day: Day
`;

const TYPES = `
  type Bid {
    amount: Int, price: Float, note: String, bid_id: ID, number: Int, state: State, state_text: String, open: Boolean,
    tags: [String], owner_ids: [ID], day: Day, extra: Json, seller: Seller, constructor: String
  }
  type Seller { id: ID, name: String, address: Address }
  type Address { city: String }
  enum State { OPEN SOLD }
  scalar Day
  scalar Json
`;

type Passes = (event: Event, viewer?: Json) => boolean;

/** A filter as the gateway makes it of a schema, with the arguments of one subscription. */
async function filterOf(t: TestContext, where: string, args: Arguments, code?: string) {
  const schema = `type Subscription { bid(${ARGUMENTS}): Bid @event(topic: "bids") @filter(where: ${where}) } ${TYPES}`;
  const folder = await graphFolder(t, { 'schema.graphql': schema, ...(code && { 'graph.js': code }) });
  const { bindings } = await loadGraph(folder);
  return bindings.get('bid')?.filter?.(args);
}

async function passing(...of: Parameters<typeof filterOf>): Promise<Passes | undefined> {
  const filter = await filterOf(...of);
  if (filter === undefined) return undefined;
  const index = new FilterIndex();
  index.add({ plan: { filter } });
  return (event, viewer = {}) => {
    const passes = filter.passes(event, viewer);
    const isFound = index.matching(event).values().next().done !== true;
    assert.ok(isFound || !passes, 'what passes meets what the filter requires');
    return passes;
  };
}

type Row = readonly [where: string, event: Event, passes: boolean, args?: Arguments];

const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  'eq and ne compare with values of the same type': [
    ['{ amount: { eq: 5 } }', { amount: 5 }, true],
    ['{ amount: { eq: 5 } }', { amount: 6 }, false],
    ['{ amount: { eq: 5 } }', { amount: '5' }, false],
    ['{ amount: { ne: 5 } }', { amount: '5' }, true],
    ['{ note: { ne: "a" } }', { note: 'a' }, false],
    ['{ open: { eq: "$flag" } }', { open: false }, true, { flag: false }],
    ['{ open: { eq: "$flag" } }', { open: true }, false, { flag: false }],
  ],
  'in holds one of several, from a literal list, a list argument or single arguments': [
    ['{ amount: { in: [1, 2] } }', { amount: 2 }, true],
    ['{ amount: { in: [1, 2] } }', { amount: 3 }, false],
    ['{ note: { in: "$texts" } }', { note: 'b' }, true, { texts: ['a', 'b'] }],
    ['{ note: { in: "$texts" } }', { note: 'b' }, false, { texts: [] }],
    ['{ amount: { in: ["$n", "$m"] } }', { amount: 2 }, true, { n: 1, m: 2 }],
  ],
  'gt, gte, lt, lte order numbers and text': [
    ['{ amount: { gt: 5 } }', { amount: 5 }, false],
    ['{ amount: { gte: 5 } }', { amount: 5 }, true],
    ['{ amount: { lt: 5 } }', { amount: 5 }, false],
    ['{ amount: { lte: 5 } }', { amount: 5 }, true],
    ['{ price: { gt: 1.5 } }', { price: 2 }, true],
    ['{ note: { gte: "$text" } }', { note: '2026-01-10' }, true, { text: '2026-01-02' }],
    ['{ note: { lt: "$text" } }', { note: '2026-01-10' }, false, { text: '2026-01-02' }],
  ],
  'contains looks into lists and text': [
    ['{ tags: { contains: "a" } }', { tags: ['b', 'a'] }, true],
    ['{ tags: { contains: "a" } }', { tags: ['ab'] }, false],
    ['{ note: { contains: "a" } }', { note: 'bab' }, true],
    ['{ note: { contains: "$text" } }', { note: 'bab' }, false, { text: 'x' }],
    ['{ owner_ids: { contains: "$id" } }', { owner_ids: [6, 7] }, true, { id: '7' }],
  ],
  'IDs are the same as a number and as text': [
    ['{ bid_id: { eq: "5" } }', { bid_id: 5 }, true],
    ['{ bid_id: { eq: 5 } }', { bid_id: '5' }, true],
    ['{ bid_id: { eq: "05" } }', { bid_id: 5 }, false],
    ['{ bid_id: { ne: "5" } }', { bid_id: 5 }, false],
    ['{ bid_id: { in: "$ids" } }', { bid_id: 5 }, true, { ids: ['4', '5'] }],
    ['{ number: { eq: "$id" } }', { number: 5 }, true, { id: '5' }],
    ['{ bid_id: { eq: null } }', { bid_id: null }, true],
  ],
  'several keys must all hold, and objects lead into the event': [
    ['{ amount: { gte: 1, lt: 5 } }', { amount: 5 }, false],
    ['{ amount: { gte: 1, lt: 5 } }', { amount: 4 }, true],
    ['{ amount: { eq: 1 }, note: { eq: "a" } }', { amount: 1, note: 'b' }, false],
    ['{ seller: { id: { eq: "1" } } }', { seller: { id: 1 } }, true],
    ['{ seller: { address: { city: { eq: "Bonn" } } } }', { seller: { address: { city: 'Bonn' } } }, true],
    ['{ seller: { address: { city: { eq: "Bonn" } } } }', { seller: { address: { city: 'Köln' } } }, false],
    ['{ extra: { kind: { eq: "a" } } }', { extra: { kind: 'a' } }, true],
  ],
  'and, or, not combine, also within an object and with operators': [
    ['{ or: [{ amount: { eq: 1 } }, { amount: { eq: 2 } }] }', { amount: 2 }, true],
    ['{ or: [{ amount: { eq: 1 } }, { amount: { eq: 2 } }] }', { amount: 3 }, false],
    ['{ and: [{ amount: { gt: 1 } }, { amount: { lt: 3 } }] }', { amount: 3 }, false],
    ['{ not: { amount: { eq: 1 } } }', { amount: 2 }, true],
    ['{ not: { amount: { eq: 1 } } }', { amount: 1 }, false],
    ['{ amount: { not: { eq: 1 }, lt: 5 } }', { amount: 1 }, false],
    [
      '{ seller: { or: [{ id: { eq: 1 } }, { name: { eq: "b" } }] } }',
      { seller: { id: 2, name: 'b' } },
      true,
    ],
  ],
  'what the event lacks rejects, under not as well, unless something else decides': [
    ['{ amount: { eq: 1 } }', {}, false],
    ['{ amount: { ne: 1 } }', {}, false],
    ['{ not: { amount: { eq: 1 } } }', {}, false],
    ['{ not: { not: { amount: { eq: 1 } } } }', {}, false],
    ['{ seller: { id: { ne: "1" } } }', { seller: null }, false],
    ['{ seller: { id: { ne: "1" } } }', { seller: 'x' }, false],
    ['{ or: [{ amount: { eq: 1 } }, { note: { eq: "a" } }] }', { note: 'a' }, true],
    ['{ or: [{ note: { eq: "a" } }, { amount: { eq: 1 } }] }', { note: 'b' }, false],
    ['{ not: { or: [{ note: { eq: "a" } }, { amount: { eq: 1 } }] } }', { note: 'b' }, false],
    ['{ not: { and: [{ note: { eq: "a" } }, { amount: { eq: 1 } }] } }', { note: 'b' }, true],
    ['{ constructor: { ne: "x" } }', {}, false],
  ],
  'null is a value for eq, ne and in, and has no order': [
    ['{ amount: { eq: null } }', { amount: null }, true],
    ['{ amount: { eq: null } }', { amount: 1 }, false],
    ['{ amount: { ne: 1 } }', { amount: null }, true],
    ['{ amount: { in: [1, null] } }', { amount: null }, true],
    ['{ amount: { lt: 1 } }', { amount: null }, false],
    ['{ not: { amount: { lt: 1 } } }', { amount: null }, false],
  ],
  'values of other types than expected have no order, and objects are equal to nothing': [
    ['{ amount: { gt: 1 } }', { amount: '2' }, false],
    ['{ not: { amount: { gt: 1 } } }', { amount: '2' }, false],
    ['{ not: { note: { eq: "a" } } }', { note: { a: 1 } }, false],
    ['{ not: { note: { contains: "a" } } }', { note: 5 }, false],
  ],
  'two dollars stand for one': [
    ['{ note: { eq: "$$text" } }', { note: '$text' }, true, { text: 'a' }],
    ['{ note: { eq: "US$" } }', { note: 'US$' }, true],
  ],
  'enums are compared by name': [
    ['{ state: { eq: "OPEN" } }', { state: 'OPEN' }, true],
    ['{ state: { eq: OPEN } }', { state: 'SOLD' }, false],
    ['{ state: { in: "$states" } }', { state: 'SOLD' }, true, { states: ['OPEN', 'SOLD'] }],
    ['{ state_text: { eq: "$state" } }', { state_text: 'OPEN' }, true, { state: 'OPEN' }],
  ],
};

describe('@filter', () => {
  for (const [name, rows] of Object.entries(GROUPS)) {
    it(name, async (t) => {
      for (const [where, event, passes, args = {}] of rows) {
        const predicate = await passing(t, where, args);
        const what = `${where} with ${JSON.stringify(args)} on ${JSON.stringify(event)}`;
        assert.equal(predicate?.(event), passes, what);
      }
    });
  }

  it('loses a condition whose argument is absent or null', async (t) => {
    const where = '{ amount: { gte: "$n", lt: "$m" } }';
    const both = await passing(t, where, { n: 5, m: null });
    assert.equal(both?.({ amount: 100 }), true);
    assert.equal(both?.({ amount: 4 }), false);
    assert.equal(await passing(t, where, { m: null }), undefined);
  });

  it('loses and, or and not that become empty', async (t) => {
    assert.equal(await passing(t, '{ not: { amount: { eq: "$n" } } }', {}), undefined);
    const either = '{ or: [{ amount: { eq: "$n" } }, { note: { eq: "$text" } }] }';
    assert.equal(await passing(t, either, {}), undefined);
    const rest = await passing(t, '{ or: [{ not: { amount: { eq: "$n" } } }, { note: { eq: "a" } }] }', {});
    assert.equal(rest?.({ note: 'b' }), false);
  });

  it('compares an enum and a scalar that have code with values as events hold them', async (t) => {
    const code = `import { defineGraph } from 'sluice';
      export default defineGraph({ resolvers: {
        State: { OPEN: 'open', SOLD: 'sold' },
        Day: { serialize: (day) => 'day ' + day, parseValue: (text) => Number(text.slice(4)) },
      } });`;
    const assertPasses = async (where: string, args: Arguments, event: Event) =>
      assert.equal((await passing(t, where, args, code))?.(event), true, where);
    await assertPasses('{ state: { eq: "OPEN" } }', {}, { state: 'open' });
    await assertPasses('{ state: { eq: "$state" } }', { state: 'open' }, { state: 'open' });
    await assertPasses('{ state_text: { eq: "$state" } }', { state: 'open' }, { state_text: 'OPEN' });
    await assertPasses('{ day: { eq: "$day" } }', { day: 3 }, { day: 'day 3' });
  });
});

const VIEWERS: readonly (readonly [where: string, event: Event, viewer: Json, passes: boolean])[] = [
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: 7 }, { id: '7' }, true],
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: 7 }, { id: '8' }, false],
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: 7 }, {}, false],
  ['{ not: { bid_id: { eq: "$viewer.id" } } }', { bid_id: 7 }, { id: '8' }, true],
  ['{ not: { bid_id: { eq: "$viewer.id" } } }', { bid_id: 7 }, {}, false],
  ['{ not: { bid_id: { eq: "$viewer.id" } } }', {}, { id: '8' }, false],
  ['{ owner_ids: { contains: "$viewer.id" } }', { owner_ids: [1, 2] }, { id: 2 }, true],
  ['{ owner_ids: { contains: "$viewer.id" } }', { owner_ids: [1, 2] }, { id: 3 }, false],
  ['{ owner_ids: { contains: "$viewer.org.id" } }', { owner_ids: [1] }, { org: { id: '1' } }, true],
  ['{ owner_ids: { contains: "$viewer.org.id" } }', { owner_ids: [1] }, { org: null }, false],
  ['{ state_text: { in: "$viewer.states" } }', { state_text: 'a' }, { states: ['a', 'b'] }, true],
  ['{ state_text: { in: "$viewer.states" } }', { state_text: 'a' }, { states: 'a' }, true],
  ['{ state_text: { in: "$viewer.states" } }', { state_text: 'a' }, { states: 'ab' }, false],
  ['{ state_text: { in: "$viewer.states" } }', { state_text: 'a' }, { states: { a: 'a' } }, false],
  ['{ not: { state_text: { in: "$viewer.states" } } }', { state_text: 'a' }, { states: 'b' }, true],
  ['{ not: { state_text: { in: "$viewer.states" } } }', { state_text: 'b' }, { states: 'b' }, false],
  ['{ bid_id: { in: "$viewer.ids" } }', { bid_id: 7 }, { ids: '7' }, true],
  ['{ bid_id: { in: "$viewer.ids" } }', { bid_id: 2 ** 53 }, { ids: String(2 ** 53) }, false],
  ['{ state_text: { in: ["x", "$viewer.state"] } }', { state_text: 'x' }, {}, false],
  ['{ note: { ne: "$viewer.blocked" } }', { note: 'x' }, { blocked: ['x'] }, false],
  ['{ not: { note: { eq: "$viewer.blocked" } } }', { note: 'x' }, { blocked: { a: 'x' } }, false],
  ['{ not: { owner_ids: { contains: "$viewer.ids" } } }', { owner_ids: [1] }, { ids: [1] }, false],
  ['{ not: { note: { in: "$viewer.lists" } } }', { note: 'x' }, { lists: [['x']] }, false],
  ['{ amount: { lte: "$viewer.limit" } }', { amount: 5 }, { limit: 5 }, true],
  ['{ amount: { lte: "$viewer.limit" } }', { amount: 5 }, { limit: '5' }, false],
  ['{ or: [{ open: { eq: true } }, { bid_id: { eq: "$viewer.id" } }] }', { open: true, bid_id: 1 }, {}, true],
  // What names no viewer.
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: null }, { id: null }, false],
  ['{ not: { bid_id: { eq: "$viewer.id" } } }', { bid_id: 7 }, { id: null }, false],
  ['{ note: { eq: "$viewer.org" } }', { note: '' }, { org: '' }, false],
  ['{ note: { ne: "$viewer.org" } }', { note: 'x' }, { org: '' }, false],
  ['{ note: { contains: "$viewer.org" } }', { note: 'all' }, { org: '' }, false],
  ['{ tags: { contains: "$viewer.org" } }', { tags: [null] }, { org: null }, false],
  ['{ state_text: { in: "$viewer.states" } }', { state_text: null }, { states: [null] }, false],
  ['{ state_text: { in: "$viewer.states" } }', { state_text: '' }, { states: [''] }, false],
  ['{ not: { state_text: { in: "$viewer.states" } } }', { state_text: 'a' }, { states: ['b', ''] }, false],
  ['{ note: { in: ["", "$viewer.org"] } }', { note: '' }, { org: 'a' }, true],
  ['{ note: { in: [null, "$viewer.org"] } }', { note: null }, { org: 'a' }, true],
];

/** JavaScript rounds others to these. */
const BEYOND_INTEGERS: typeof VIEWERS = [
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: 2 ** 53 }, { id: 2 ** 53 }, false],
  ['{ price: { eq: "$viewer.id" } }', { price: 2 ** 53 }, { id: 2 ** 53 }, false],
  ['{ price: { lte: "$viewer.id" } }', { price: 5 }, { id: 2 ** 53 }, false],
  ['{ price: { lte: "$viewer.id" } }', { price: 5 }, { id: 1e20 }, false],
  ['{ price: { gte: "$viewer.id" } }', { price: 5 }, { id: -(2 ** 53) }, false],
  ['{ state_text: { in: "$viewer.ids" } }', { state_text: 'a' }, { ids: ['a', 2 ** 53] }, false],
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: 2 ** 53 }, { id: String(2 ** 53) }, false],
  ['{ bid_id: { ne: "$viewer.id" } }', { bid_id: 2 ** 53 }, { id: 'a' }, false],
  ['{ bid_id: { in: "$viewer.ids" } }', { bid_id: 2 ** 53 }, { ids: [String(2 ** 53)] }, false],
  ['{ owner_ids: { contains: "$viewer.id" } }', { owner_ids: [2 ** 53] }, { id: String(2 ** 53) }, false],
  ['{ owner_ids: { contains: "$viewer.id" } }', { owner_ids: [2 ** 53, 1] }, { id: '1' }, true],
  ['{ not: { owner_ids: { contains: "$viewer.id" } } }', { owner_ids: [2 ** 53] }, { id: '1' }, false],
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: 2 ** 53 - 1 }, { id: 2 ** 53 - 1 }, true],
  ['{ bid_id: { eq: "$viewer.id" } }', { bid_id: String(2 ** 53) }, { id: String(2 ** 53) }, true],
  ['{ price: { gt: "$viewer.min" } }', { price: 1e20 }, { min: 5 }, true],
  ['{ price: { eq: "$viewer.price" } }', { price: 0.5 }, { price: 0.5 }, true],
];

for (const [name, rows] of [
  ['@filter on the viewer', VIEWERS],
  ['@filter on the viewer takes no integer beyond 2^53 for a viewer', BEYOND_INTEGERS],
] as const) {
  for (const [where, event, viewer, passes] of rows) {
    test(`${name}: ${passes ? 'passes' : 'rejects'} ${JSON.stringify(event)} by ${where} for ${JSON.stringify(viewer)}`, async (t) => {
      assert.equal((await passing(t, where, {}))?.(event, viewer), passes);
    });
  }
}

test('a filter requires one comparison that must hold, of those with arguments the one that tells most apart', async (t) => {
  const texts = Array.from({ length: 17 }, (_, n) => `${n}`);
  for (const [where, args, expected] of [
    ['{ amount: { gte: "$n" }, note: { eq: "$text" } }', { n: 5, text: 'a' }, ['note', 'in', 'a']],
    ['{ amount: { gte: "$n" }, note: { eq: "$text" } }', { n: 5 }, ['amount', 'gte', 5]],
    ['{ note: { eq: "b" }, amount: { lt: "$n" } }', { n: 5 }, ['amount', 'lt', 5]],
    ['{ bid_id: { in: "$ids" } }', { ids: ['7', 'x'] }, ['bid_id', 'in', '7', 7, 'x']],
    ['{ seller: { address: { city: { eq: "$text" } } } }', { text: 'a' }, ['seller.address.city', 'in', 'a']],
    ['{ note: { in: "$texts" }, amount: { gt: "$n" } }', { texts, n: 1 }, ['amount', 'gt', 1]],
    ['{ note: { gt: "$text" } }', { text: 'x'.repeat(256) }, ['note', 'gt', 'x'.repeat(256)]],
    ['{ note: { gt: "$text" } }', { text: 'x'.repeat(257) }, undefined],
    ['{ or: [{ amount: { eq: 1 } }, { note: { eq: "$text" } }] }', { text: 'a' }, undefined],
    ['{ not: { note: { eq: "$text" } } }', { text: 'a' }, undefined],
    ['{ note: { ne: "$text" }, tags: { contains: "$text" } }', { text: 'a' }, undefined],
    ['{ note: { eq: "$viewer.id" } }', {}, undefined],
  ] as const) {
    const requires = (await filterOf(t, where, args))?.requires;
    const actual = requires && [requires.path.join('.'), requires.operator, ...requires.operands];
    assert.deepEqual(actual, expected, where);
  }
});
