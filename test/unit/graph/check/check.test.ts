import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { formatDiagnostic } from '../../../../src/graph/diagnostic.ts';
import { bid, check, graphJs, testCases, type Case } from './cases.ts';
import { graphFolder } from '../graph-folder.ts';

const CASES: readonly Case[] = [
  [
    'a schema that is not GraphQL',
    'type Subscription {\n  bid: : Bid\n}',
    ['schema.graphql:2:8 error: Syntax Error: Expected Name, found ":".'],
    'schema definition language',
  ],
  [
    'a type that is not declared',
    'type Subscription {\n  bid: Bidd @event(topic: "bids")\n}',
    ['schema.graphql:2:8 error: Unknown type "Bidd". Did you mean "ID"?'],
    'schema definition language',
  ],
  [
    'a directive that the gateway does not know',
    'type Subscription {\n  bid: String @event(topic: "bids") @entity(key: "x")\n}',
    ['schema.graphql:2:37 error: Unknown directive "@entity".'],
    '@event, @filter, @delivery, @auth, @cost and @listSize',
  ],
  [
    'an argument of @event that is not there yet',
    bid('@event(topic: "bids", retain: true)'),
    ['schema.graphql:3:27 error: Unknown argument "retain" on directive "@event".'],
    'topic, key, keyFrom, keys, format, sharing, history and replay',
  ],
  [
    'a value of @event that is of the wrong type',
    bid('@event(topic: "bids", keys: CAMEL)'),
    ['schema.graphql:3:33 error: Argument "keys" has invalid value CAMEL.'],
    'keys: EventKeys',
  ],
  [
    'a directive that the schema declares again',
    `${bid('')}directive @event on FIELD_DEFINITION`,
    ['schema.graphql:9:12 error: There can be only one directive named "@event".'],
    'schema definition language',
  ],
  [
    'a schema without a Subscription',
    'type Query { a: Int }',
    ['schema.graphql:1:1 error: expected a type Subscription, found none'],
    'type Subscription',
  ],
  [
    'an object type that lacks a field of its interface',
    'type Subscription { bid: Bid @event(topic: "b") }\ninterface Node { id: ID }\ntype Bid implements Node { amount: Int }',
    ['schema.graphql:2:18 error: Interface field Node.id expected but Bid does not provide it.'],
    'schema definition language',
  ],
  [
    'a subscription field without @event',
    bid(''),
    ['schema.graphql:2:3 error: Subscription.bid_placed has no @event, which names its topic'],
    'Add @event',
  ],
  [
    '@event where it means nothing',
    'type Subscription { bid: Bid @event(topic: "b") }\ntype Bid { amount: Int @filter(where: {}) }',
    ['schema.graphql:2:24 error: @filter has no meaning on Bid.amount'],
    'Subscription type',
  ],
  [
    'a topic that Kafka would not take',
    bid('@event(topic: "my bids")'),
    ['schema.graphql:3:19 error: expected the name of a Kafka topic, got "my bids"'],
    'letters, digits',
  ],
  [
    'a key that is no argument',
    bid('@event(topic: "bids", key: "amount")'),
    ['schema.graphql:3:32 error: key "amount" is no argument of Subscription.bid_placed'],
    'Arguments: auction_id.',
  ],
  [
    'a key that is no field of the event',
    bid('@event(topic: "bids", key: "house_id")', '(house_id: ID!)'),
    ['schema.graphql:3:32 error: key "house_id" is no field of Bid'],
    'Add house_id to Bid: the key names an event field',
  ],
  [
    'a key that is neither',
    bid('@event(topic: "bids", key: "house_id")'),
    [
      'schema.graphql:3:32 error: key "house_id" is no argument of Subscription.bid_placed',
      'schema.graphql:3:32 error: key "house_id" is no field of Bid',
    ],
    'Arguments: auction_id.',
  ],
  [
    'a key that snake_case events never have, though code makes the result',
    'type Subscription {\n  bid(auctionId: ID!): Bid @event(topic: "b", key: "auctionId")\n}\ntype Bid { amount: Int }',
    [
      'schema.graphql:2:52 error: no event can have the key "auctionId": keys of events become snake_case before they get here',
    ],
    'auction_id',
    graphJs('{ resolvers: { Subscription: { bid: (event) => event } } }'),
  ],
  [
    'a key that holds an object',
    bid('@event(topic: "bids", key: "seller")', '(seller: Range!)'),
    [
      'schema.graphql:2:14 error: key "seller" picks channels by Range!, expected a scalar, an enum or a list of them',
      'schema.graphql:3:32 error: key "seller" is a field of type Seller: events are routed by scalars and enums',
    ],
    'Route by the ID',
  ],
  [
    'a key argument that may be null',
    bid('@event(topic: "bids", key: "auction_id")', '(auction_id: ID)'),
    [
      'schema.graphql:2:14 warning: key argument "auction_id" of Subscription.bid_placed may be null: leaving it out yields everyone\'s events',
    ],
    'auction_id: ID!',
  ],
  [
    'an event shown as something else than an object',
    'type Subscription { bid: [Bid] @event(topic: "b")\n amount: Int @event(topic: "b") }\ntype Bid { amount: Int }',
    [
      'schema.graphql:1:21 error: Subscription.bid: an event is an object, got the type [Bid]',
      'schema.graphql:2:2 error: Subscription.amount: an event is an object, got the type Int',
    ],
    'a resolver that makes this type',
  ],
  [
    'one topic with two styles of keys',
    'type Subscription {\n  a: Bid @event(topic: "b", keys: KEEP)\n  b: Bid @event(topic: "b")\n}\ntype Bid { amount: Int }',
    [
      'schema.graphql:3:10 error: topic "b" is shown with keys: SNAKE here and with keys: KEEP by Subscription.a',
    ],
    'the same keys',
  ],
  [
    'keyFrom: KAFKA_KEY without a key',
    bid('@event(topic: "bids", keyFrom: KAFKA_KEY)', ''),
    [
      'schema.graphql:3:36 error: keyFrom: KAFKA_KEY without a key: expected the event field whose value the Kafka key holds',
    ],
    'Add key',
  ],
  [
    'keyFrom: KAFKA_KEY for a list',
    bid('@event(topic: "bids", key: "tags", keyFrom: KAFKA_KEY)', '(tags: String!)'),
    ['schema.graphql:3:49 error: keyFrom: KAFKA_KEY, but key "tags" is a list: a Kafka key holds one value'],
    'Leave keyFrom out',
  ],
  [
    'keyFrom: KAFKA_KEY on a topic that is routed by another field too',
    'type Subscription {\n  a(x: ID!): Bid @event(topic: "b", key: "x", keyFrom: KAFKA_KEY)\n  b(y: ID!): Bid @event(topic: "b", key: "y")\n c: Bid @event(topic: "b")\n}\ntype Bid { x: ID, y: ID }',
    [
      'schema.graphql:2:56 error: keyFrom: KAFKA_KEY, but Subscription.b routes the events of topic "b" by "y" of the event',
    ],
    'the same key and keyFrom',
  ],
  [
    'keyFrom: KAFKA_KEY at one of two fields with the same key',
    'type Subscription {\n  a(x: ID!): Bid @event(topic: "b", key: "x")\n  b(x: ID!): Bid @event(topic: "b", key: "x", keyFrom: KAFKA_KEY)\n}\ntype Bid { x: ID }',
    [
      'schema.graphql:3:56 error: keyFrom: KAFKA_KEY, but Subscription.a routes the events of topic "b" by "x" of the event',
    ],
    'the same key and keyFrom',
  ],
  [
    'fields that snake_case events can never fill, wherever they are reached from the event',
    'type Subscription { bid: Bid @event(topic: "b"), seller: Seller @event(topic: "s") }\ntype Bid { seller: Seller, node: Node }\ntype Seller { userID: ID,\n line2_text: String }\ninterface Node { x: Int }\ntype Leaf implements Node { x: Int, bestBid: Bid }',
    [
      'schema.graphql:3:15 error: Seller.userID can never be filled: keys of events become snake_case before they get here',
      'schema.graphql:6:37 error: Leaf.bestBid can never be filled: keys of events become snake_case before they get here',
    ],
    'Call it user_id',
  ],
  [
    'a plural of capitals, with the hint that names the key as ingest does',
    'type Subscription { bid: Bid @event(topic: "b") }\ntype Bid { userIDs: [ID] }',
    [
      'schema.graphql:2:12 error: Bid.userIDs can never be filled: keys of events become snake_case before they get here',
    ],
    'Call it user_ids,',
  ],
  [
    'resolvers for types and fields that are not there',
    bid('@event(topic: "bids")'),
    [
      'graph.js:4:5 error: resolvers.Bdi: the schema has no type "Bdi"',
      'graph.js:5:12 error: resolvers.Bid.sum: the schema has no Bid.sum',
    ],
    'Bid takes code for auction_id,',
    graphJs('{\n  resolvers: {\n    Bdi: {},\n    Bid: { sum: () => 1 },\n  },\n}'),
  ],
  [
    'resolvers that are no functions',
    bid('@event(topic: "bids")'),
    [
      'graph.js:2:50 error: resolvers.Bid.note: expected a function, got string',
      'graph.js:2:72 error: resolvers.State.OPEN: expected text, a number or a boolean, got function'.replace(
        '58',
        '66',
      ),
    ],
    '(source, args, context, info)',
    graphJs('{ resolvers: { Bid: { note: "a" }, State: { OPEN() {} } } }'),
  ],
  [
    'properties of the definition that come later or never',
    bid('@event(topic: "bids")'),
    [
      'graph.js:3:3 error: defineGraph does not know "authorize"',
      'graph.js:4:3 error: defineGraph does not know "history"',
    ],
    'It knows resolvers, decode, authenticate',
    graphJs('{\n  authorize: () => ({}),\n  history: {},\n}'),
  ],
  [
    'what should be a function or an object and is not',
    bid('@event(topic: "bids")'),
    [
      'graph.js:3:3 error: loaders: expected a function, got object',
      'graph.js:4:3 error: authenticate: expected a function, got string',
      'graph.js:5:3 error: backends: expected an object, got a list',
    ],
    'Write',
    graphJs('{\n  loaders: {},\n  authenticate: "me",\n  backends: [],\n}'),
  ],
  [
    'a back end that forwards what tells viewers apart',
    bid('@event(topic: "bids")'),
    [
      'graph.js:3:15 warning: backends.uaa forwards values of the viewer: subscribers share results that use it only if these values are equal',
    ],
    'service credentials',
    graphJs('{\n  backends: { uaa: { url: "http://uaa", forward: ["token"] } },\n}'),
  ],
  [
    'decode for a topic that no field shows, or without a function of one argument',
    bid('@event(topic: "bids") other: Bid @event(topic: "others")'),
    [
      'graph.js:2:41 error: decode: no @event names the topic "bidz"',
      'graph.js:2:60 error: decode["bids"]: expected a function, got number',
      'graph.js:2:69 error: decode["others"]: expected a function of one argument, got one of 2',
    ],
    'Write ({ value, key, headers, topic, partition, offset, timestamp }) => event.',
    graphJs("{ decode: { 'bidz': () => null, bids: 5, others: (value, headers) => null } }"),
  ],
  [
    'a default export that is not a definition',
    bid('@event(topic: "bids")'),
    ['graph.js:1:1 error: expected the default export to come from defineGraph, got object'],
    'export default defineGraph',
    'export default { resolvers: {} };',
  ],
  [
    'code that throws while it is loaded',
    bid('@event(topic: "bids")'),
    ["graph.js:2:7 error: the code of the graph can't be loaded: no such luck"],
    'whenever the graph is loaded',
    '\nthrow new Error("no such luck");',
  ],
];

describe('checkGraph', () => {
  testCases(CASES);

  it('finds nothing wrong where fields are filled by resolvers or keys are kept', async (t) => {
    const schema = `type Subscription { bid: Bid @event(topic: "b"), other: Other @event(topic: "o", keys: KEEP) }
      type Bid { sellerName: String, seller: Seller }
      type Seller { fullName: String }
      type Other { someKey: Int }`;
    const code = graphJs('{ resolvers: { Bid: { sellerName: () => "", seller: () => ({}) } } }');
    assert.deepEqual((await check(t, schema, code)).lines, []);
  });

  it('names the files as the folder is named, and says so when there is none', async (t) => {
    const folder = path.relative(process.cwd(), await graphFolder(t, {}));
    const [found] = await checkGraph(folder);
    assert.equal(found?.file, path.join(folder, 'schema.graphql'));
    assert.match(found?.message ?? '', /expected a file that ends in .graphql, found none/);
  });
});

describe('formatDiagnostic', () => {
  it('puts the place first, as editors know it, and the hint on a line of its own', () => {
    const text = formatDiagnostic({
      severity: 'warning',
      file: 'a/schema.graphql',
      line: 3,
      column: 7,
      message: 'this may be wrong',
      hint: 'Do that.',
    });
    assert.equal(text, 'a/schema.graphql:3:7: warning: this may be wrong\n    Do that.');
  });
});
