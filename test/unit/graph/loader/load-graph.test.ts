import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { execute, graphqlSync, parse, type GraphQLSchema } from 'graphql';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const SCHEMA = `
type Subscription {
  bid_placed(auction_id: ID!): Bid @event(topic: "bids", key: "auction_id")
  bids_of(bidder_id: [ID!]!): Bid @event(topic: "bids", key: "bidder_id")
  any_bid: Bid @event(topic: "bids")
  camel(someId: ID!): Camel @event(topic: "camel", key: "someId", keys: KEEP)
}
type Bid { auction_id: ID, bidder_id: ID, amount: Int }
type Camel { someId: ID }
`;

/** Loads a folder outside the repository. @param definition of its code, if it has any */
async function load(t: TestContext, schema = SCHEMA, definition?: string) {
  const code = `import { defineGraph } from 'sluice'; import { GraphQLScalarType } from 'graphql';
    export default defineGraph(${definition});`;
  const files = { 'schema.graphql': schema, ...(definition && { 'graph.js': code }) };
  return loadGraph(await graphFolder(t, files));
}

/** The data of a subscription document for one event, as graphql-js makes it. */
function resultOf(schema: GraphQLSchema, selection: string, event: object) {
  const result = execute({ schema, document: parse(`subscription { ${selection} }`), rootValue: event });
  return (JSON.parse(JSON.stringify(result)) as { data: unknown }).data;
}

function answerOf(schema: GraphQLSchema, source: string) {
  return { ...graphqlSync({ schema, source }).data };
}

const ms = (text: string): number => new Date(text).getTime();

describe('loadGraph', () => {
  it('loads a folder that holds nothing but a schema', async (t) => {
    const { hasResolvers, bindings, schema } = await load(t);
    assert.equal(hasResolvers, false);
    const { field, topic, key, keyRequired, keyForm, filter, shares } = bindings.get('bid_placed') ?? {};
    assert.deepEqual(
      [field, topic, key, keyRequired, filter, shares],
      ['bid_placed', 'bids', 'auction_id', true, undefined, true],
    );
    assert.equal(keyForm?.('7'), '7');
    assert.deepEqual(resultOf(schema, 'any_bid { amount }', { amount: 5 }), { any_bid: { amount: 5 } });
  });

  it('merges what all fields of one topic need of it', async (t) => {
    const { topics } = await load(t);
    const json = { format: 'JSON', decodeValue: undefined, keyFormat: undefined, decodeKey: undefined };
    const bare = { ...json, envelope: 'NONE', from: new Map(), shape: undefined };
    const rest = { pattern: undefined, kafkaKey: undefined, decode: undefined, ...bare };
    assert.deepEqual(
      [...topics.values()],
      [
        {
          name: 'bids',
          streams: [{ name: 'bids', history: undefined }],
          keyStyle: 'SNAKE',
          keys: ['auction_id', 'bidder_id'],
          ...rest,
        },
        {
          name: 'camel',
          streams: [{ name: 'camel', history: undefined }],
          keyStyle: 'KEEP',
          keys: ['someId'],
          ...rest,
        },
      ],
    );
  });

  it('knows by which field a topic is keyed in Kafka, also if other fields show the whole topic', async (t) => {
    const { topics } = await load(
      t,
      `type Subscription {
        all: Bid @event(topic: "bids")
        one(id: ID!): Bid @event(topic: "bids", key: "id", keyFrom: KAFKA_KEY)
        some(id: [ID!]!): Bid @event(topic: "bids", key: "id", keyFrom: KAFKA_KEY)
        last: Bid @event(topic: "bids")
      }
      type Bid { id: ID }`,
    );
    assert.equal(topics.get('bids')?.kafkaKey, 'id');
  });

  it('adds a query root that tells the version where the schema has none, and leaves one that is there', async (t) => {
    const added = await load(t);
    assert.match(String(answerOf(added.schema, '{ sluice }')['sluice']), /^\d+\.\d+\.\d+/);
    const own = await load(t, `${SCHEMA} type Query { sluice: String, other: Int }`);
    assert.deepEqual(answerOf(own.schema, '{ sluice other }'), { sluice: null, other: null });
  });

  it('adds the query root to a schema definition and to an extension as well', async (t) => {
    const renamed = SCHEMA.replace('type Subscription', 'type Live');
    const named = await load(t, `schema { subscription: Live } ${renamed}`);
    assert.deepEqual([...named.bindings.keys()], ['bid_placed', 'bids_of', 'any_bid', 'camel']);
    assert.equal(named.schema.getQueryType()?.name, 'Query');
    const { schema } = await load(t, `${SCHEMA} extend type Query { other: Int }`);
    assert.deepEqual(Object.keys(schema.getQueryType()?.getFields() ?? {}), ['sluice', 'other']);
  });

  it('takes resolvers of fields, the subscription field included', async (t) => {
    const { schema, hasResolvers } = await load(
      t,
      SCHEMA,
      `{ resolvers: {
        Subscription: { any_bid: (event) => ({ amount: event.sum }) },
        Bid: { auction_id: (bid, args, context, info) => info.parentType.name + bid.amount },
      } }`,
    );
    assert.equal(hasResolvers, true);
    assert.deepEqual(resultOf(schema, 'any_bid { amount auction_id }', { sum: 7 }), {
      any_bid: { amount: 7, auction_id: 'Bid7' },
    });
  });

  it('takes code of scalars and enums, and coerces defaults with it', async (t) => {
    const { schema } = await load(
      t,
      `type Subscription {
        lot(day: Day = "2026-01-02", state: State = OPEN, range: Range = {}): Lot @event(topic: "lots")
      }
      type Lot { day: Day, other: Tag, state: State, seen: String }
      input Range { from: Day = "2026-01-03" }
      enum State { OPEN SOLD }
      scalar Day
      scalar Tag`,
      `{ resolvers: {
        Day: { parseValue: (text) => new Date(text), serialize: (day) => 'day ' + day },
        Tag: new GraphQLScalarType({ name: 'Tag', serialize: (tag) => '#' + tag }),
        State: { OPEN: 'open', SOLD: 'sold' },
        Lot: { seen: (lot) => lot.seen },
        Subscription: { lot: (event, { day, state, range }) =>
          ({ ...event, seen: [day.getTime(), state, range.from.getTime()].join() }) },
      } }`,
    );
    const event = { day: '1', other: 'x', state: 'sold' };
    const lot = { day: 'day 1', other: '#x', state: 'SOLD' };
    assert.deepEqual(resultOf(schema, 'lot { day other state seen }', event), {
      lot: { ...lot, seen: `${ms('2026-01-02')},open,${ms('2026-01-03')}` },
    });
    assert.deepEqual(resultOf(schema, 'lot(day: "2027-01-01", state: SOLD) { seen }', event), {
      lot: { seen: `${ms('2027-01-01')},sold,${ms('2026-01-03')}` },
    });
  });

  it('tells the type of an interface by __typename in the event, by __resolveType or by __isTypeOf', async (t) => {
    const { schema } = await load(
      t,
      `type Subscription { node: Node @event(topic: "n"), thing: Thing @event(topic: "t"), item: Item @event(topic: "i") }
      interface Node { id: ID }
      type A implements Node { id: ID }
      union Thing = A | B
      type B { id: ID }
      interface Item { id: ID }
      type C implements Item { id: ID }`,
      `{ resolvers: { Thing: { __resolveType: (event) => event.kind }, C: { __isTypeOf: () => true } } }`,
    );
    for (const [field, event, type] of [
      ['node', { __typename: 'A' }, 'A'],
      ['thing', { kind: 'B' }, 'B'],
      ['item', {}, 'C'],
    ] as const) {
      const result = resultOf(schema, `${field} { __typename }`, event);
      assert.deepEqual(result, { [field]: { __typename: type } });
    }
  });

  it('hands decode to the topic that it is for', async (t) => {
    const decode = `({ value, headers }) => ({ amount: value.length, kind: headers.kind })`;
    const { topics, hasResolvers } = await load(t, SCHEMA, `{ decode: { bids: ${decode} } }`);
    const message = { value: Buffer.from('abc'), key: null, headers: { kind: 'x' } };
    const place = { topic: 'bids', partition: 0, offset: 0, timestamp: -1 };
    assert.deepEqual(await topics.get('bids')?.decode?.({ ...message, ...place }), { amount: 3, kind: 'x' });
    assert.equal(topics.get('camel')?.decode, undefined);
    assert.equal(hasResolvers, false);
  });

  it('gives warnings, and refuses errors with one message that names them all', async (t) => {
    const nullable = SCHEMA.replace('auction_id: ID!', 'auction_id: ID');
    const { warnings } = await load(t, nullable);
    assert.deepEqual(
      warnings.map(({ line, message }) => [line, message.slice(0, 25)]),
      [[3, 'key argument "auction_id"']],
    );
    const wrong = nullable.replace('key: "bidder_id"', 'key: "bidder"');
    const loading = load(t, wrong, `{ resolvers: { Bidd: {} }, loaders: {} }`);
    await assert.rejects(loading, (error: Error & { code?: string }) => {
      assert.equal(error.code, 'BAD_GRAPH');
      assert.deepEqual(error.message.match(/\w+\.\w+:\d+:\d+: \w+/g), [
        'schema.graphql:4:62: error',
        'graph.js:2:47: error',
        'graph.js:2:59: error',
      ]);
      return true;
    });
  });
});
