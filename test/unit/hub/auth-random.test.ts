import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ExecutionResult } from 'graphql';
import type { Json } from '../../../src/lazy/reads.ts';
import { seeded } from '../executor/random-documents.ts';
import { graphJs } from '../graph/check/cases.ts';
import { AuthOracle, sdl, type Ask, type Asks } from './auth-oracle.ts';
import { asJson, authWorld } from './auth-world.ts';
import { settled } from './parts.ts';

const SEEDS = 24;
/** Enough for the operation to be compiled on the way. */
const EVENTS = 16;

type Choose = (count: number) => number;

const oneOf = <T>(choose: Choose, items: readonly T[]): T => items[choose(items.length)] as T;

const PLACES = [
  'Subscription',
  'Subscription.bid',
  'Bid',
  'Bid.amount',
  'Bid.note',
  'Bid.seller',
  'Bid.sellers',
  'Seller',
  'Seller.name',
  'Node.id',
  'House',
  'House.rooms',
];

/** The text of the schema: with `@auth` at its places, or without. */
const schemaOf = (asks: Asks, event = '') => {
  const auth = (place: string) => sdl(asks[place]);
  return `
  type Query { a: Int }
  type Subscription ${auth('Subscription')} { bid(of: ID): Bid ${event} ${auth('Subscription.bid')} }
  type Bid ${auth('Bid')} {
    id: ID owner_id: ID amount: Int ${auth('Bid.amount')} note(of: ID): String ${auth('Bid.note')}
    seller: Seller ${auth('Bid.seller')} sellers: [Seller!] ${auth('Bid.sellers')} node: Node any: Any anys: [Any]
  }
  type Seller ${auth('Seller')} { id: ID owner_id: ID name: String! ${auth('Seller.name')} }
  interface Node { id: ID ${auth('Node.id')} }
  type House implements Node ${auth('House')} { id: ID owner_id: ID rooms: Int ${auth('House.rooms')} }
  type Boat implements Node { id: ID owner_id: ID }
  union Any = House | Seller`;
};

const SELECTIONS = [
  'id',
  'amount',
  'again: amount',
  'note(of: "a")',
  'mine: note(of: $who)',
  'seller { id name }',
  'seller { ...S }',
  'sellers { owner_id name __typename }',
  'node { id ... on House { rooms own: id } }',
  '... on Bid { node { __typename ... on Boat { id } } }',
  'any { __typename ... on Seller { ...S } ... on House { rooms owner_id } }',
  'anys { ... on Node { id } ... on Seller { name } }',
  'amount @include(if: $yes)',
];

function randomAsk(choose: Choose, place: string): Ask {
  const owner = { field: 'owner_id', ...(choose(4) === 0 && { claim: 'org.id' }) };
  const simple: Ask[] = [
    { requires: ['admin'] },
    { requires: ['admin', 'agent'] },
    { requires: ['x'], claim: 'org.role' },
    { owner },
  ];
  if (place === 'Bid.note' || place === 'Subscription.bid') simple.push({ owner: { argument: 'of' } });
  const kind = choose(8);
  if (kind === 0) return {};
  if (kind === 1) return { ...oneOf(choose, simple.slice(0, 3)), owner };
  if (kind < 4) return { any: [oneOf(choose, simple), oneOf(choose, simple)] };
  return oneOf(choose, simple);
}

const IDS = ['a', 'b', 1, '1', 'c'];

function randomViewer(choose: Choose): Json {
  if (choose(6) === 0) return {};
  const viewer: Record<string, Json> = { name: `viewer ${choose(1_000)}` };
  if (choose(4) > 0) viewer['id'] = oneOf(choose, [...IDS, '', null, ['a', 1]]);
  if (choose(4) > 0) viewer['role'] = oneOf(choose, ['admin', 'agent', 'guest', ['agent', 'x'], null, true]);
  if (choose(3) > 0) {
    viewer['org'] = oneOf<Json>(choose, [{ role: 'x', id: 'a' }, { role: ['y'], id: 1 }, {}]);
  }
  return viewer;
}

function randomEvent(choose: Choose, id: number): Record<string, unknown> {
  const owned = (rest: object) => ({
    id: choose(9),
    ...(choose(5) > 0 && { owner_id: oneOf(choose, [...IDS, null, '']) }),
    ...rest,
  });
  const seller = () => owned({ __typename: 'Seller', name: `name ${choose(9)}` });
  const house = () => owned({ __typename: 'House', rooms: choose(9) });
  return {
    ...owned({}),
    id,
    amount: id,
    note: `note ${id}`,
    seller: choose(6) === 0 ? null : seller(),
    sellers: Array.from({ length: choose(4) }, seller),
    node: choose(2) === 0 ? house() : owned({ __typename: 'Boat' }),
    any: choose(2) === 0 ? house() : seller(),
    anys: [house(), seller(), null],
  };
}

const SLOW = graphJs(`{ resolvers: {
  Bid: { seller: async (bid) => bid.seller, node: async (bid) => { await null; return bid.node; } },
  Seller: { name: async (seller) => seller.name },
} }`);

/** Errors have no order of their own: compiled code comes by fields in another one. */
function comparable(result: unknown): unknown {
  const { errors, data } = asJson(result) as ExecutionResult;
  return { data, errors: errors?.map((error) => JSON.stringify(error)).toSorted() };
}

it(`gives each of many viewers what an execution for it alone gives, with @auth at random places`, async (t) => {
  let [refusals, deliveries, hidden, errors, compiled] = [0, 0, 0, 0, 0];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const choose = seeded(seed);
    const asks: Record<string, Ask[]> = {};
    for (const place of PLACES) {
      if (choose(place.startsWith('S') ? 5 : 3) > 0) continue;
      asks[place] = Array.from({ length: choose(5) === 0 ? 2 : 1 }, () => randomAsk(choose, place));
    }
    const event = `@event(topic: "events"${choose(4) === 0 ? ', sharing: NEVER' : ''})`;
    const world = await authWorld(t, schemaOf(asks, event), choose(3) === 0 ? SLOW : undefined);
    const oracle = new AuthOracle(schemaOf({}), asks);
    const chosen = SELECTIONS.filter(() => choose(3) === 0);
    const of = oneOf(choose, ['', '(of: "a")', '(of: $who)']);
    const query = `subscription ($who: ID = "b", $yes: Boolean = true) {
      top: bid${of} { owner_id ${chosen.join(' ')} ...S2 } }
      fragment S on Seller { name } fragment S2 on Bid { id sellers { ...S } x: id @skip(if: $yes) y: note(of: $who) }`;
    const variables = oneOf(choose, [{}, { who: 'a' }, { who: 1, yes: false }]);
    const args = { '': {}, '(of: "a")': { of: 'a' }, '(of: $who)': { of: variables.who ?? 'b' } }[of] ?? {};
    const members = Array.from({ length: 12 }, () => randomViewer(choose)).flatMap((viewer) => {
      const { subscriber, errors: refused } = world.subscribe(query, viewer, variables);
      assert.equal(
        refused === undefined,
        oracle.mayHave('bid', 'Bid', viewer, args, undefined),
        `seed ${seed}: ${JSON.stringify(viewer)}\n${schemaOf(asks)}`,
      );
      if (refused) refusals += 1;
      return refused ? [] : [{ viewer, subscriber, expected: [] as unknown[] }];
    });
    for (let id = 1; id <= EVENTS; id++) {
      const value = randomEvent(choose, id);
      world.send(value);
      for (const { viewer, expected } of members) {
        if (!oracle.mayHave('bid', 'Bid', viewer, args, value)) {
          hidden += 1;
          continue;
        }
        const result = oracle.execute(query, value, viewer, variables);
        if (result.errors) errors += 1;
        expected.push(comparable(result));
      }
    }
    for (const { viewer, subscriber, expected } of members) {
      while (subscriber.results.length < expected.length) await settled();
      await settled();
      deliveries += expected.length;
      const message = `seed ${seed}: ${JSON.stringify(viewer)}\n${schemaOf(asks)}\n${query}`;
      assert.deepEqual(subscriber.results.map(comparable), expected, message);
    }
    compiled += world.executor.counts.compiled;
  }
  const reached = { refusals, deliveries, hidden, errors, compiled };
  const isVaried = Object.values(reached).every((count) => count >= SEEDS / 4);
  assert.ok(isVaried, `expected all to happen often, got ${JSON.stringify(reached)}`);
  t.diagnostic(JSON.stringify(reached));
});
