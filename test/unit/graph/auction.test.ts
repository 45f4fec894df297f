import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import {
  execute,
  getNamedType,
  isObjectType,
  parse,
  type ExecutionResult,
  type GraphQLOutputType,
} from 'graphql';
import { startBackends } from '../../../examples/auction/backends.ts';
import { askGuide } from '../../../examples/auction/guide.ts';
import { simulate, type SimulatedMessage } from '../../../examples/auction/simulator.ts';
import { Contexts } from '../../../src/context/event-scope.ts';
import type { Backend } from '../../../src/graph/api/backend.ts';
import { checkGraph } from '../../../src/graph/loader/check-graph.ts';
import { snakeCase } from '../../../src/events/snake-case.ts';
import { loadGraph, type LoadedGraph } from '../../../src/graph/loader/load-graph.ts';
import { ReadSet, type Json } from '../../../src/lazy/reads.ts';
import { Random } from '../../helpers/random.ts';

/** In the sources, seen from the compiled test. */
const FOLDER = path.join(import.meta.dirname, '../../../../examples/auction');

// Or else the graph would start its own back ends when it is loaded.
process.env['AUCTION_BACKEND_URL'] = 'http://house.invalid';

function simulated(count: number, seed: number): SimulatedMessage[] {
  let time = Date.UTC(2026, 0, 1);
  const random = new Random(seed);
  const events = simulate(
    () => random.next(),
    () => (time += 1_000),
  );
  return Array.from({ length: count }, () => events.next().value);
}

/** What ingest makes of a message's keys. */
function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeCase(key), snakeCased(inner)]));
}

/** Every field that there is below a type. */
function selectionOf(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).map((field) => field.name + selectionOf(field.type));
  return `{ ${fields.join(' ')} }`;
}

/** A back end that knows all bidders and agents, and records its requests. */
class House {
  readonly asked: string[] = [];

  readonly get = (url: string): Promise<unknown> => {
    this.asked.push(`GET ${url}`);
    const contact = { agent_id: url.split('/').at(-1), email: 'e', languages: [], office_hours: 'o' };
    return Promise.resolve(url.endsWith('/nobody') ? null : contact);
  };

  readonly post = (url: string, body: { ids: readonly string[] } | { query: string }): Promise<unknown> => {
    if ('query' in body) return askGuide(JSON.stringify(body));
    const { ids } = body;
    this.asked.push(`POST ${url} ${ids.join()}`);
    return Promise.resolve(ids.filter((id) => id !== 'nobody').map(profileOf));
  };
}

function profileOf(id: string): object {
  return { bidder_id: id, display_name: 'N. N.', city: 'c', member_since: '2020', auctions_won: 1 };
}

interface Asked {
  readonly house?: Pick<House, 'get'>;
  readonly viewer?: Json;
  /** Default: everything that there is. */
  readonly selection?: string;
}

let loading: Promise<LoadedGraph> | undefined;

const auction = (): Promise<LoadedGraph> => (loading ??= loadGraph(FOLDER));

async function contextOf(event: unknown, house: Pick<House, 'get'>, viewer: Json) {
  const bound = house as unknown as Backend;
  const graph = await auction();
  const backends = { bind: () => ({ house: bound, guide: bound }) };
  const contexts = new Contexts(graph.definition, backends, () => 0, graph);
  return contexts.scopeOf(event).execution(viewer, new ReadSet()).context;
}

async function resultOf(field: string, event: unknown, asked: Asked = {}): Promise<ExecutionResult> {
  const { house = new House(), viewer = {}, selection } = asked;
  const { schema } = await auction();
  const type = schema.getSubscriptionType()?.getFields()[field]?.type;
  assert.ok(type);
  const args = field === 'property_update' ? '' : '(auction_id: "auction-1")';
  const document = parse(`subscription { ${field}${args} ${selection ?? selectionOf(type)} }`);
  return execute({ schema, document, rootValue: event, contextValue: await contextOf(event, house, viewer) });
}

/** In plain objects; fails if there are errors. */
function plainOf({ data, errors }: ExecutionResult): Record<string, unknown> {
  assert.equal(errors, undefined);
  return JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
}

/** What the field itself has. */
const dataOf = async (field: string, event: unknown, asked?: Asked): Promise<unknown> =>
  plainOf(await resultOf(field, event, asked))[field];

describe('the bundled auction', () => {
  it('has no faults, but a warning for property_update, which may show all properties', async () => {
    const found = await checkGraph(FOLDER);
    assert.deepEqual(
      found.map(({ severity, message }) => `${severity}: ${message}`),
      [
        'warning: key argument "property_id" of Subscription.property_update may be null: leaving it out yields everyone\'s events',
      ],
    );
  });

  it('is filled by the simulated events in every field, without errors', async () => {
    const { bindings } = await auction();
    const seen = new Set<string>();
    for (const { topic, key, value } of simulated(300, 7)) {
      const binding = [...bindings.values()].find((candidate) => candidate.topic === topic);
      assert.ok(binding, topic);
      seen.add(binding.field);
      const event = snakeCased(value) as Record<string, unknown>;
      assert.equal(event[binding.key ?? ''], key);
      plainOf(await resultOf(binding.field, event));
    }
    assert.deepEqual([...seen].toSorted(), ['auction_status', 'bid_placed', 'property_update']);
  });

  it('writes prices and addresses as people do', async () => {
    const update = simulated(300, 7).find(
      ({ topic, key }) => topic === 'property-updates' && key === 'property-2',
    );
    const result = JSON.stringify(await resultOf('property_update', snakeCased(update?.value)));
    assert.match(result, /"formatted":"Große Elbstraße 73, Hinterhaus, 3. Stock, 22767 Hamburg, DE"/);
    assert.match(result, /"formatted":"€9\d\d,\d{3}"/);
  });

  it('fetches what an event has not brought, and only what is selected', async () => {
    const house = new House();
    const bid = { bidder: { bidder_id: 'bidder-1' } };
    const selection = '{ one: bidder_profile { bidder_id city } other: bidder_profile { auctions_won } }';
    assert.deepEqual(await dataOf('bid_placed', bid, { house, selection }), {
      one: { bidder_id: 'bidder-1', city: 'c' },
      other: { auctions_won: 1 },
    });
    assert.deepEqual(house.asked, ['POST /bidders/batch bidder-1']);
    await resultOf('bid_placed', bid, { house, selection: '{ bidder { bidder_id } is_mine }' });
    assert.equal(house.asked.length, 1);
    const agent = { house, selection: '{ agent_contact { email } }' };
    assert.deepEqual(await dataOf('property_update', { agent: { agent_id: 'a/1' } }, agent), {
      agent_contact: { email: 'e' },
    });
    assert.equal(house.asked[1], 'GET /agents/a%2F1');
  });

  it('takes from the event what that has brought, without a request', async () => {
    const house = new House();
    const bid = { bidder: { bidder_id: 'b' }, bidder_profile: { ...profileOf('b'), city: 'from the event' } };
    const profile = { house, selection: '{ bidder_profile { city } }' };
    assert.deepEqual(await dataOf('bid_placed', bid, profile), {
      bidder_profile: { city: 'from the event' },
    });
    const update = { agent: { agent_id: 'a' }, agent_contact: { agent_id: 'a', email: 'too' } };
    const contact = { house, selection: '{ agent_contact { email } }' };
    assert.deepEqual(await dataOf('property_update', update, contact), { agent_contact: { email: 'too' } });
    assert.deepEqual(house.asked, []);
  });

  for (const [whom, field, event, nothing] of [
    ['a bidder', 'bid_placed', { bidder: { bidder_id: 'nobody' } }, 'bidder_profile'],
    ['an agent', 'property_update', { agent: { agent_id: 'nobody' } }, 'agent_contact'],
    ['an agent who is null', 'property_update', { agent: null }, 'agent_contact'],
    ['an agent of whom nothing is said', 'property_update', {}, 'agent_contact'],
  ] as const) {
    it(`has null for ${whom}, where the back end knows none`, async () => {
      const selection = `{ ${nothing} { __typename } }`;
      assert.deepEqual(await dataOf(field, event, { selection }), { [nothing]: null });
    });
  }

  it('tells bidders which bids are theirs, and guests that none is', async () => {
    const { authenticate } = (await auction()).definition;
    const request = { headers: {}, url: '/graphql', remoteAddress: undefined };
    const bid = { bidder: { bidder_id: 'bidder-1' } };
    for (const [params, expected, isMine] of [
      [{ bidderId: 'bidder-1' }, { role: 'bidder', id: 'bidder-1' }, true],
      [{ bidderId: 'bidder-2' }, { role: 'bidder', id: 'bidder-2' }, false],
      [{}, { role: 'guest' }, false],
    ] as const) {
      const viewer = (await authenticate?.(params, request)) as Json;
      assert.deepEqual(viewer, expected);
      const selection = '{ is_mine }';
      assert.deepEqual(await dataOf('bid_placed', bid, { viewer, selection }), { is_mine: isMine });
    }
    for (const bidderId of ['', 7, null, {}]) assert.equal(await authenticate?.({ bidderId }, request), null);
  });

  it('has bids that rise, for one property of an auction after another', () => {
    type Lot = { readonly propertyId: string; highest: number; readonly states: string[] };
    const lots = new Map<string, Lot[]>();
    for (const { topic, key, value } of simulated(2_000, 1)) {
      if (topic === 'property-updates') continue;
      const { propertyId, state, amount } = value as {
        propertyId: string;
        state: string;
        amount: { value: number };
      };
      const before = lots.get(key)?.at(-1);
      if (state === 'OPEN' && before?.states.at(-1) !== 'CLOSING') {
        assert.notEqual(propertyId, before?.propertyId, 'one that was offered just now is not offered again');
        lots.set(key, [...(lots.get(key) ?? []), { propertyId, highest: 0, states: [state] }]);
        continue;
      }
      assert.equal(propertyId, before?.propertyId);
      if (topic === 'auction-status') before?.states.push(state);
      else {
        assert.match(before?.states.at(-1) ?? '', /^(OPEN|CLOSING)$/, 'bids come while they are taken');
        assert.ok(amount.value > (before?.highest ?? 0));
        if (before !== undefined) before.highest = amount.value;
      }
    }
    const ended = [...lots.values()].flatMap((list) => list.slice(0, -1));
    assert.ok(ended.length > 10);
    assert.ok(ended.some(({ states }) => states.includes('SOLD')));
    for (const { states } of ended) {
      assert.match(states.join(), /^OPEN(,CLOSING,OPEN)*,CLOSING,(SOLD|PASSED_IN)$/);
    }
  });

  it('lists the auctions that are on, and each still has bids every minute after a day', async (t) => {
    const backends = await startBackends();
    t.after(() => backends.close());
    const { schema } = await auction();
    const house = {
      get: async (url: string) => snakeCased(await (await fetch(backends.url + url)).json()),
    };
    const document = parse('{ auctions { auction_id room } }');
    const contextValue = await contextOf({}, house, {});
    const { auctions } = plainOf(await execute({ schema, document, contextValue })) as {
      auctions: readonly { auction_id: string }[];
    };
    const listed = auctions.map(({ auction_id }) => auction_id);
    assert.ok(listed.includes('auction-1'));

    // As fast as the gateway sends them.
    let time = Date.UTC(2026, 0, 1);
    const tomorrow = time + 24 * 60 * 60_000;
    const random = new Random(5);
    const events = simulate(
      () => random.next(),
      () => time,
    );
    while (time < tomorrow) {
      const withBids = new Set<string>();
      for (const minute = time + 60_000; time < minute; time += 300) {
        const { topic, key } = events.next().value;
        if (topic === 'bids') withBids.add(key);
      }
      assert.deepEqual([...withBids].toSorted(), listed);
    }
  });

  it('is the same for the same random numbers, and goes on for any', () => {
    assert.deepEqual(simulated(50, 3), simulated(50, 3));
    assert.notDeepEqual(simulated(50, 3), simulated(50, 4));
    for (const constant of [0, 0.5, 0.9, 0.999]) {
      const events = simulate(
        () => constant,
        () => 0,
      );
      for (let i = 0; i < 50; i++) assert.equal(events.next().done, false);
    }
  });
});
