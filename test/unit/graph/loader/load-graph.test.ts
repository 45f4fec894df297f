import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { execute, graphqlSync, parse, type GraphQLSchema } from 'graphql';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../graph-folder.ts';

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

/** The data of a subscription document for one event, as graphql-js makes it. */
function resultOf(schema: GraphQLSchema, query: string, event: object) {
  const result = execute({ schema, document: parse(query), rootValue: event });
  return JSON.parse(JSON.stringify(result)) as unknown;
}

const code = (definition: string) =>
  `import { defineGraph } from 'sluice';\nexport default defineGraph(${definition});`;

const ms = (text: string): number => new Date(text).getTime();

describe('loadGraph', () => {
  it('loads a folder outside the repository that holds nothing but a schema', async (t) => {
    const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA }));
    assert.equal(graph.hasResolvers, false);
    const { field, topic, key, keyRequired, keyForm, filter, shares } =
      graph.bindings.get('bid_placed') ?? {};
    assert.deepEqual(
      { field, topic, key, keyRequired, filter, shares },
      {
        field: 'bid_placed',
        topic: 'bids',
        key: 'auction_id',
        keyRequired: true,
        filter: undefined,
        shares: true,
      },
    );
    assert.equal(keyForm?.('7'), '7');
    assert.deepEqual(resultOf(graph.schema, 'subscription { any_bid { amount } }', { amount: 5 }), {
      data: { any_bid: { amount: 5 } },
    });
  });

  it('merges what all fields of one topic need of it', async (t) => {
    const { topics } = await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA }));
    assert.deepEqual(
      [...topics.values()],
      [
        {
          name: 'bids',
          keyStyle: 'SNAKE',
          keys: ['auction_id', 'bidder_id'],
          kafkaKey: undefined,
          decode: undefined,
          history: undefined,
        },
        {
          name: 'camel',
          keyStyle: 'KEEP',
          keys: ['someId'],
          kafkaKey: undefined,
          decode: undefined,
          history: undefined,
        },
      ],
    );
  });

  it('knows by which field a topic is keyed in Kafka, also if other fields show the whole topic', async (t) => {
    const schema = `type Subscription {
      all: Bid @event(topic: "bids")
      one(id: ID!): Bid @event(topic: "bids", key: "id", keyFrom: KAFKA_KEY)
      some(id: [ID!]!): Bid @event(topic: "bids", key: "id", keyFrom: KAFKA_KEY)
      last: Bid @event(topic: "bids")
    }
    type Bid { id: ID }`;
    const { topics } = await loadGraph(await graphFolder(t, { 'schema.graphql': schema }));
    assert.equal(topics.get('bids')?.kafkaKey, 'id');
  });

  it('adds a query root that tells the version where the schema has none', async (t) => {
    const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA }));
    const { data } = graphqlSync({ schema, source: '{ sluice }' });
    assert.match(String(data?.['sluice']), /^\d+\.\d+\.\d+/);
  });

  it('leaves a query root that is there as it is', async (t) => {
    const own = `${SCHEMA} type Query { sluice: String, other: Int }`;
    const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': own }));
    const { data } = graphqlSync({ schema, source: '{ sluice other }' });
    assert.deepEqual({ ...data }, { sluice: null, other: null });
  });

  it('adds the query root to a schema definition and to an extension as well', async (t) => {
    const named = `schema { subscription: Live } ${SCHEMA.replace('type Subscription', 'type Live')}`;
    const first = await loadGraph(await graphFolder(t, { 'schema.graphql': named }));
    assert.deepEqual([...first.bindings.keys()], ['bid_placed', 'bids_of', 'any_bid', 'camel']);
    assert.equal(first.schema.getQueryType()?.name, 'Query');
    const extended = `${SCHEMA} extend type Query { other: Int }`;
    const second = await loadGraph(await graphFolder(t, { 'schema.graphql': extended }));
    assert.deepEqual(Object.keys(second.schema.getQueryType()?.getFields() ?? {}), ['sluice', 'other']);
  });

  it('takes resolvers of fields, the subscription field included', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': SCHEMA,
      'graph.js': code(`{ resolvers: {
        Subscription: { any_bid: (event) => ({ amount: event.sum }) },
        Bid: { auction_id: (bid, args, context, info) => info.parentType.name + bid.amount },
      } }`),
    });
    const { schema, hasResolvers } = await loadGraph(folder);
    assert.equal(hasResolvers, true);
    assert.deepEqual(resultOf(schema, 'subscription { any_bid { amount auction_id } }', { sum: 7 }), {
      data: { any_bid: { amount: 7, auction_id: 'Bid7' } },
    });
  });

  it('takes code of scalars and enums, and coerces defaults with it', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `
        type Subscription {
          lot(day: Day = "2026-01-02", state: State = OPEN, range: Range = {}): Lot @event(topic: "lots")
        }
        type Lot { day: Day, other: Tag, state: State, seen: String }
        input Range { from: Day = "2026-01-03" }
        enum State { OPEN SOLD }
        scalar Day
        scalar Tag`,
      'graph.js': `import { defineGraph } from 'sluice';
        import { GraphQLScalarType } from 'graphql';
        export default defineGraph({ resolvers: {
          Day: { parseValue: (text) => new Date(text), serialize: (day) => 'day ' + day },
          Tag: new GraphQLScalarType({ name: 'Tag', serialize: (tag) => '#' + tag }),
          State: { OPEN: 'open', SOLD: 'sold' },
          Lot: { seen: (lot) => lot.seen },
          Subscription: { lot: (event, { day, state, range }) =>
            ({ ...event, seen: [day.getTime(), state, range.from.getTime()].join() }) },
        } });`,
    });
    const { schema } = await loadGraph(folder);
    const event = { day: '1', other: 'x', state: 'sold' };
    const lot = { day: 'day 1', other: '#x', state: 'SOLD' };
    assert.deepEqual(resultOf(schema, 'subscription { lot { day other state seen } }', event), {
      data: { lot: { ...lot, seen: `${ms('2026-01-02')},open,${ms('2026-01-03')}` } },
    });
    const literals = 'subscription { lot(day: "2027-01-01", state: SOLD) { seen } }';
    assert.deepEqual(resultOf(schema, literals, event), {
      data: { lot: { seen: `${ms('2027-01-01')},sold,${ms('2026-01-03')}` } },
    });
  });

  it('tells the type of an interface by __typename in the event, by __resolveType or by __isTypeOf', async (t) => {
    const schema = `
      type Subscription { node: Node @event(topic: "n"), thing: Thing @event(topic: "t"), item: Item @event(topic: "i") }
      interface Node { id: ID }
      type A implements Node { id: ID }
      union Thing = A | B
      type B { id: ID }
      interface Item { id: ID }
      type C implements Item { id: ID }`;
    const folder = await graphFolder(t, {
      'schema.graphql': schema,
      'graph.js': code(
        `{ resolvers: { Thing: { __resolveType: (event) => event.kind }, C: { __isTypeOf: () => true } } }`,
      ),
    });
    const graph = await loadGraph(folder);
    const typeOf = (field: string, event: object) =>
      resultOf(graph.schema, `subscription { ${field} { __typename } }`, event);
    assert.deepEqual(typeOf('node', { __typename: 'A' }), { data: { node: { __typename: 'A' } } });
    assert.deepEqual(typeOf('thing', { kind: 'B' }), { data: { thing: { __typename: 'B' } } });
    assert.deepEqual(typeOf('item', {}), { data: { item: { __typename: 'C' } } });
  });

  it('hands decode to the topic that it is for', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': SCHEMA,
      'graph.js': code(
        `{ decode: { bids: ({ value, headers }) => ({ amount: value.length, kind: headers.kind }) } }`,
      ),
    });
    const { topics, hasResolvers } = await loadGraph(folder);
    const message = { value: Buffer.from('abc'), key: null, headers: { kind: 'x' } };
    const place = { topic: 'bids', partition: 0, offset: 0, timestamp: -1 };
    assert.deepEqual(await topics.get('bids')?.decode?.({ ...message, ...place }), { amount: 3, kind: 'x' });
    assert.equal(topics.get('camel')?.decode, undefined);
    assert.equal(hasResolvers, false);
  });

  it('gives warnings, and refuses errors with one message that names them all', async (t) => {
    const nullable = await graphFolder(t, {
      'schema.graphql': SCHEMA.replace('auction_id: ID!', 'auction_id: ID'),
    });
    const { warnings } = await loadGraph(nullable);
    assert.deepEqual(
      warnings.map(({ line, message }) => [line, message.slice(0, 25)]),
      [[3, 'key argument "auction_id"']],
    );
    const wrong = SCHEMA.replace('key: "bidder_id"', 'key: "bidder"').replace(
      'auction_id: ID!',
      'auction_id: ID',
    );
    const folder = await graphFolder(t, {
      'schema.graphql': wrong,
      'graph.js': code(`{ resolvers: { Bidd: {} }, loaders: {} }`),
    });
    await assert.rejects(loadGraph(folder), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'BAD_GRAPH');
      const places = error.message.match(/\w+\.\w+:\d+:\d+: \w+/g);
      assert.deepEqual(places, [
        'schema.graphql:4:62: error',
        'schema.graphql:4:62: error',
        'graph.js:2:43: error',
        'graph.js:2:55: error',
      ]);
      return true;
    });
  });
});
