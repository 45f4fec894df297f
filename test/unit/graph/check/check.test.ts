import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it, test } from 'node:test';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { formatDiagnostic } from '../../../../src/graph/diagnostic.ts';
import { bid, graphJs, testCases, testDirectives, type Case } from './cases.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const BIDS = '@event(topic: "bids")';

const coded = (definition: string, ...said: readonly string[]): Case => [
  bid(BIDS),
  said,
  graphJs(definition),
];

describe('checkGraph', () => {
  testDirectives({
    '@event(topic: "bids", ›retain: true)':
      'Unknown argument "retain" on directive "@event". → topic, topics, key, argument, keyFrom, keys, format, schema',
    '@event(topic: "bids", keys: ›CAMEL)': 'keys: expected SNAKE or KEEP, got CAMEL → Leave it out',
    '@event(topic: "bids", format: ›XML, keyFrom: ›KAFKAKEY)': [
      "format: expected JSON or AVRO or PROTOBUF or JSON_SCHEMA, got XML → a function that makes events of the topic's messages: decode: {",
      'keyFrom: expected EVENT or KAFKA_KEY, got KAFKAKEY → KAFKA_KEY if the Kafka key holds the same value',
    ],
    '@event(topic: "bids", keyFrom: ›"KAFKA_KEY")':
      'keyFrom: expected EVENT or KAFKA_KEY, got "KAFKA_KEY" → Write keyFrom: KAFKA_KEY, without quotes.',
    '@event(topic: ›"my bids")': 'expected the name of a Kafka topic, got "my bids" → letters, digits',
    '@event(topic: ›"/bids")':
      'expected the name of a Kafka topic, or a pattern with a slash before and behind it only, got "/bids" → Write "/^orders-/".',
    '@event(topic: ›"/^bids(/")':
      'expected a regular expression, got "/^bids(/": Invalid regular expression: /^bids(/: Unterminated group',
    '›@event(replay: 3)': 'expected either topic or topics, got neither → topics: ["orders-eu", "orders-us"]',
    '@event(topic: "bids", topics: ›["asks"])': 'expected either topic or topics, got both',
    '@event(topics: ›[])': 'topics: expected at least one, got an empty list',
    '@event(topics: ›["bids", "my bids"])': 'expected the name of a Kafka topic, got "my bids"',
    [`@event(topics: ›[${Array.from({ length: 5 }, (_, n) => `"${'x'.repeat(200)}${n}"`).join(', ')}])`]:
      'topics: expected names of 1000 characters together, got 1009 → Write a pattern that they match.',
    '@event(topic: "bids", key: ›"amount")':
      'key "amount" is no argument of Subscription.bid_placed → Arguments: auction_id.',
    '@event(topic: "bids", key: ›"house_id")':
      'key "house_id" is no field of Bid → Add house_id to Bid: the key names an event field, and the argument that picks by it. Fields of Bid: auction_id, amount, note, tags, open, state, seller and sellers. Arguments: auction_id.',
    '@event(topic: "bids", key: ›"fleetId")':
      'no event can have the key "fleetId": keys of events become snake_case before they get here → Write key: "fleet_id", with an argument fleet_id; or @event(keys: KEEP)',
    '@event(topic: "bids", key: ›"auction-id")':
      'key: expected the name of an event field, or names separated by dots, got "auction-id" → "customer.customer_id"',
    '@event(topic: "bids", key: ›"seller..id", argument: "auction_id")':
      'key: expected the name of an event field, or names separated by dots, got "seller..id"',
    '@event(topic: "bids", key: "auction_id", argument: ›"id")':
      'argument "id" is no argument of Subscription.bid_placed → Arguments: auction_id.',
    '@event(topic: "bids", argument: ›"auction_id")':
      'argument without a key: expected the event field by which it picks → Add key',
    '@event(topic: "bids", key: ›"seller.id")':
      'key "seller.id": Subscription.bid_placed has no argument "id" → Arguments: auction_id. Add one of that name, or name the one that picks by the key: argument:',
    '@event(topic: "bids", key: ›"seller.city", argument: "auction_id")':
      'key "seller.city": Seller has no field "city" → Add city to Seller: the key names an event field, and the argument that picks by it. Fields of Seller: id and name.',
    '@event(topic: "bids", key: ›"amount.value", argument: "auction_id")':
      'key "amount.value": "value" stands below amount, which is of type Int → Write key: "amount".',
    '@event(topic: "bids", key: ›"sellers.id", argument: "auction_id")':
      'key "sellers.id": "id" stands within a list, and keys do not look into lists → sellers is of type [Seller]: add a list of these values to the event, where it is sent or by decode',
    '@event(topic: "bids", key: ›"seller.fullName", argument: "auction_id")':
      'no event can have the key "seller.fullName": keys of events become snake_case before they get here → Write key: "seller.full_name", argument: "auction_id";',
    '@event(topic: "bids", key: ›"sellers", argument: "auction_id")':
      'key "sellers" is a field of type [Seller]: events are routed by scalars and enums → as a field of the event.',
    '@event(topic: "bids") ›@deliver(throttleMs: 5)':
      'Unknown directive "@deliver". → Did you mean @delivery? Directives of the gateway: @event',
    '@event(topic: "bids") @filter(where: { ›"seller.id": { eq: 5 } })':
      'Syntax Error: Expected Name, found String "seller.id". → Names stand without quotes, and a path of @filter is nested: seller: { id: { … } }.',
    '@event(topic: "bids") @filter(where: { amount: { gte: ›$min } })':
      'Syntax Error: Unexpected variable "$min" in constant value. → Quotes are missing: @filter compares with "$min"; other',
    '@event(topic: "bids") @auth(owner: { argument: ›$auction_id })':
      'Syntax Error: Unexpected variable "$auction_id" in constant value. → name arguments without a dollar, "auction_id".',
    '@event(topic: "bids") @filter(where: { seller: { id: { eq: ›$viewer.id } } })':
      'Syntax Error: Unexpected variable "$viewer" in constant value. → @filter compares with "$viewer.id"',
    '@event(topic: "bids") ›@snapshot(key: "x")':
      'Unknown directive "@snapshot". → @event, @filter, @delivery, @auth, @key, @entity, @fetched, @reference, @cost and @listSize',
  });

  testCases({
    'a schema that is not GraphQL': [
      'type Subscription {\n  bid: ›: Bid\n}',
      'Syntax Error: Expected Name, found ":". → schema definition language',
    ],
    'a type that is not declared': [
      'type Subscription {\n  bid: ›Bidd @event(topic: "bids")\n}',
      'Unknown type "Bidd". Did you mean "ID"? → schema definition language',
    ],
    'a directive that the schema declares again': [
      `${bid('')}directive @›event on FIELD_DEFINITION`,
      'There can be only one directive named "@event". → schema definition language',
    ],
    'a schema without a Subscription': [
      '›type Query { a: Int }',
      'expected a type Subscription, found none → type Subscription',
    ],
    'an object type that lacks a field of its interface': [
      'type Subscription { bid: Bid @event(topic: "b") }\ninterface Node { ›id: ID }\ntype Bid implements Node { amount: Int }',
      'Interface field Node.id expected but Bid does not provide it. → schema definition language',
    ],
    'a subscription field without @event': [
      'type Subscription { ›bid: Bid }\ntype Bid { amount: Int }',
      'Subscription.bid has no @event, which names its topic → Add @event',
    ],
    '@event where it means nothing': [
      'type Subscription { bid: Bid @event(topic: "b") }\ntype Bid { amount: Int ›@filter(where: {}) }',
      '@filter has no meaning on Bid.amount → Subscription type',
    ],
    'a key that is no field of the event': [
      bid('@event(topic: "bids", key: ›"house_id")', '(house_id: ID!)'),
      'key "house_id" is no field of Bid → Add house_id to Bid: the key names an event field',
    ],
    'a key that only an object within the event has': [
      bid('@event(topic: "bids", key: ›"name")', '(name: String!)'),
      'key "name" is no field of Bid → Did you mean key: "seller.name"? Fields of Bid: auction_id,',
    ],
    'a key that is nested in an object which code makes': [
      bid('@event(topic: "bids", key: ›"name")', '(name: String!)'),
      'key "name" is no field of Bid → Add name to Bid',
      graphJs('{ resolvers: { Bid: { seller: () => ({}) } } }'),
    ],
    'misspelled keys': [
      `type Subscription {
        a(station_id: ID!): Session @event(topic: "s", key: ›"statoin_id")
        b(station_id: ID!): Session @event(topic: "s", key: ›"site.op.op_nmae", argument: "station_id")
        c(id: ID!): Session @event(topic: "s", key: ›"id")
      }
      type Session { station_id: ID, site: Site, of: Session, stops: [Site], owner: Op }
      type Site { op: Op, in: Session }
      type Op { id: ID, op_name: String }`,
      [
        'key "statoin_id" is no field of Session → Did you mean key: "station_id"? Fields of Session: station_id,',
        'key "site.op.op_nmae": Op has no field "op_nmae" → Did you mean key: "site.op.op_name"? Fields of Op: id and op_name.',
        'key "id" is no field of Session → Did you mean key: "owner.id" or key: "site.op.id"? Fields of Session',
      ],
    ],
    'a key that holds an object which code makes, beside its ID': [
      `type Subscription {
        moved(ward: ID!): Move @event(topic: "m", key: ›"bed.ward")
        kept(ward: ID!): Move @event(topic: "n", key: ›"at.ward", keys: KEEP)
      }
      type Move { bed: Bed, at: Place }
      type Bed { ward_id: ID, ward: Ward }
      type Place { ward: Ward }
      type Ward { ward_id: ID, name: String }`,
      [
        'key "bed.ward" is a field of type Ward: events are routed by scalars and enums → Route by the ID of that object: key: "bed.ward_id".',
        'key "at.ward" is a field of type Ward: events are routed by scalars and enums → Route by the ID of that object: key: "at.ward.ward_id" or key: "at.ward.name".',
      ],
      graphJs('{ resolvers: { Bed: { ward: () => ({}) } } }'),
    ],
    'a camelCase key whose argument is called likewise': [
      bid('@event(topic: "bids", key: ›"auctionId")', '(auctionId: ID!)'),
      'no event can have the key "auctionId": keys of events become snake_case before they get here → Write key: "auction_id", argument: "auctionId"; or @event(keys: KEEP)',
    ],
    'nested keys, with an argument of their last name or another one': [
      `type Subscription {
        a(customer_id: ID!): Order @event(topic: "orders", key: "customer.customer_id")
        b(customer: ID!): Order @event(topic: "orders", key: "customer.customer_id", argument: "customer")
        c(tag: String!): Order @event(topic: "orders", key: "customer.tags", argument: "tag")
        d(x: ID!): Order @event(topic: "orders", key: "anything.at.x")
        e(customerId: ID!): Kept @event(topic: "kept", key: "theCustomer.customerId", keys: KEEP)
      }
      scalar JSON
      type Order { customer: Customer, anything: JSON }
      type Customer { customer_id: ID, tags: [String] }
      type Kept { theCustomer: KeptCustomer }
      type KeptCustomer { customerId: ID }`,
      [],
    ],
    'the argument of a nested key, which may be null': [
      bid('@event(topic: "bids", key: "seller.id", argument: "seller")', '(›seller: ID)'),
      'warning: key argument "seller" of Subscription.bid_placed may be null: leaving it out yields everyone\'s events → seller: ID!',
    ],
    'a nested key below what code resolves': [
      bid('@event(topic: "bids", key: ›"seller.id")', '(id: ID!)'),
      'warning: key "seller.id": Bid.seller has a resolver, but events are routed before resolvers → by what they hold themselves under seller',
      graphJs('{ resolvers: { Bid: { seller: () => ({}) } } }'),
    ],
    'a key that snake_case events never have, though code makes the result': [
      'type Subscription {\n  bid(auctionId: ID!): Bid @event(topic: "b", key: ›"auctionId")\n}\ntype Bid { amount: Int }',
      'no event can have the key "auctionId": keys of events become snake_case before they get here → auction_id',
      graphJs('{ resolvers: { Subscription: { bid: (event) => event } } }'),
    ],
    'a key that holds an object': [
      bid('@event(topic: "bids", key: ›"seller")', '(›seller: Range!)'),
      [
        'key "seller" picks channels by Range!, expected a scalar, an enum or a list of them',
        'key "seller" is a field of type Seller: events are routed by scalars and enums → Route by the ID',
      ],
    ],
    'a key argument that may be null': [
      bid('@event(topic: "bids", key: "auction_id")', '(›auction_id: ID)'),
      'warning: key argument "auction_id" of Subscription.bid_placed may be null: leaving it out yields everyone\'s events → auction_id: ID!',
    ],
    'an event shown as something else than an object': [
      'type Subscription { ›bid: [Bid] @event(topic: "b")\n ›amount: Int @event(topic: "b") }\ntype Bid { amount: Int }',
      [
        'Subscription.bid: an event is an object, got the type [Bid] → a resolver that makes this type',
        'Subscription.amount: an event is an object, got the type Int',
      ],
    ],
    'one topic with two styles of keys': [
      'type Subscription {\n  a: Bid @event(topic: "b", keys: KEEP)\n  b: Bid ›@event(topic: "b")\n}\ntype Bid { amount: Int }',
      'topic "b" is shown with keys: SNAKE here and with keys: KEEP by Subscription.a → the same keys',
    ],
    'a topic that a pattern shows with another style of keys': [
      'type Subscription {\n  a: Bid @event(topics: ["c", "b-1"], keys: KEEP)\n  b: Bid ›@event(topic: "/^b-/")\n}\ntype Bid { amount: Int }',
      'topic "b-1" is shown with keys: SNAKE here and with keys: KEEP by Subscription.a → the same keys',
    ],
    'a list whose topics other fields show in different ways': [
      'type Subscription {\n  a: Bid @event(topic: "a")\n  b: Bid @event(topic: "b", keys: KEEP)\n  c: Bid ›@event(topics: ["a", "b"])\n}\ntype Bid { amount: Int }',
      'topic "b" is shown with keys: SNAKE here and with keys: KEEP by Subscription.b → the same keys',
    ],
    'a topic that a pattern routes by its Kafka key': [
      'type Subscription { a(x: ID!): Bid @event(topic: "/^b/", key: "x", keyFrom: ›KAFKA_KEY) b(y: ID!): Bid @event(topic: "b", key: "y") }\ntype Bid { x: ID, y: ID }',
      'keyFrom: KAFKA_KEY, but Subscription.b routes the events of topic "b" by "y" of the event → the same key and keyFrom',
    ],
    'keyFrom: KAFKA_KEY without a key': [
      bid('@event(topic: "bids", keyFrom: ›KAFKA_KEY)', ''),
      'keyFrom: KAFKA_KEY without a key: expected the event field whose value the Kafka key holds → Add key',
    ],
    'keyFrom: KAFKA_KEY for a list': [
      bid('@event(topic: "bids", key: "tags", keyFrom: ›KAFKA_KEY)', '(tags: String!)'),
      'keyFrom: KAFKA_KEY, but key "tags" is a list: a Kafka key holds one value → Leave keyFrom out',
    ],
    'keyFrom: KAFKA_KEY for a nested list': [
      'type Subscription { a(x: ID!): Bid @event(topic: "b", key: "seller.ids", argument: "x", keyFrom: ›KAFKA_KEY) }\ntype Bid { seller: Seller }\ntype Seller { ids: [ID] }',
      'keyFrom: KAFKA_KEY, but key "seller.ids" is a list: a Kafka key holds one value → Leave keyFrom out',
    ],
    'keyFrom: KAFKA_KEY on a topic that is routed by another field too': [
      'type Subscription {\n  a(x: ID!): Bid @event(topic: "b", key: "x", keyFrom: ›KAFKA_KEY)\n  b(y: ID!): Bid @event(topic: "b", key: "y")\n c: Bid @event(topic: "b")\n}\ntype Bid { x: ID, y: ID }',
      'keyFrom: KAFKA_KEY, but Subscription.b routes the events of topic "b" by "y" of the event → the same key and keyFrom',
    ],
    'keyFrom: KAFKA_KEY at one of two fields with the same key': [
      'type Subscription {\n  a(x: ID!): Bid @event(topic: "b", key: "x")\n  b(x: ID!): Bid @event(topic: "b", key: "x", keyFrom: ›KAFKA_KEY)\n}\ntype Bid { x: ID }',
      'keyFrom: KAFKA_KEY, but Subscription.a routes the events of topic "b" by "x" of the event → the same key and keyFrom',
    ],
    'fields that snake_case events can never fill, wherever they are reached from the event': [
      'type Subscription { bid: Bid @event(topic: "b"), seller: Seller @event(topic: "s") }\ntype Bid { seller: Seller, node: Node }\ntype Seller { ›userID: ID,\n line2_text: String, ›userIDs: [ID] }\ninterface Node { x: Int }\ntype Leaf implements Node { x: Int, ›bestBid: Bid }',
      [
        'Seller.userID can never be filled: keys of events become snake_case before they get here → Call it user_id',
        'Seller.userIDs can never be filled: keys of events become snake_case before they get here → Call it user_ids,',
        'Leaf.bestBid can never be filled: keys of events become snake_case before they get here',
      ],
    ],
    'resolvers for types and fields that are not there': coded(
      '{\n  resolvers: {\n    ›Bdi: {},\n    Bid: { ›sum: () => 1 },\n  },\n}',
      'resolvers.Bdi: the schema has no type "Bdi" → Types: Subscription, Bid, Seller, State and Range.',
      'resolvers.Bid.sum: the schema has no Bid.sum → Bid takes code for auction_id,',
    ),
    'resolvers that are no functions': coded(
      '{ resolvers: { Bid: { ›note: "a" }, State: { ›OPEN() {} } } }',
      'resolvers.Bid.note: expected a function, got string → (source, args, context, info)',
      'resolvers.State.OPEN: expected text, a number or a boolean, got function',
    ),
    'properties of the definition that come later or never': coded(
      '{\n  ›authorize: () => ({}),\n  ›history: {},\n}',
      'defineGraph does not know "authorize" → It knows resolvers, decode, authenticate',
      'defineGraph does not know "history"',
    ),
    'what should be a function or an object and is not': coded(
      '{\n  ›loaders: {},\n  ›authenticate: "me",\n  ›backends: [],\n}',
      'loaders: expected a function, got object → Write',
      'authenticate: expected a function, got string',
      'backends: expected an object, got a list',
    ),
    'a back end that forwards what tells viewers apart': coded(
      '{\n  backends: { ›uaa: { url: "http://uaa", forward: ["token"] } },\n}',
      'warning: backends.uaa forwards values of the viewer: subscribers share results that use it only if these values are equal → service credentials',
    ),
    'a back end whose URL is not set': coded(
      '{\n  backends: { uaa: { ›url: process.env.NO_SUCH_URL }, other: { ›url: "" } },\n}',
      'warning: backends.uaa.url: expected an http or https URL without credentials, query and fragment, got nothing → an environment variable, that is not set here',
      'warning: backends.other.url: expected an http or https URL without credentials, query and fragment, got nothing',
    ),
    'a back end whose URL the gateway can not use, which is quoted without secrets': coded(
      `{
  backends: {
    a: { ›url: "wards.internal:80" },
    b: { ›url: "wards.internal" },
    c: { ›url: "localhost:5330" },
    d: { ›url: "http://user:hunter2@host/a" },
    e: { ›url: "user:p?h/u@nter2@host" },
    f: { ›url: "https://host/?token=hunter2" },
    g: { ›url: "ftp://host" },
    h: { ›url: new URL("http://host") },
    i: { url: "http://host:80/a" },
  },
}`,
      ...[
        'a.url: "wards.internal:80" → Write http://wards.internal:80.',
        'b.url: "wards.internal" → Write http://wards.internal.',
        'c.url: "localhost:5330" → Write http://localhost:5330.',
        'd.url: "http://…@host/a" → Credentials belong in headers.',
        'e.url: "…"',
        'f.url: "https://host/?…"',
        'g.url: "ftp://host" → Write http://host:port/path.',
        'h.url: a value of type object',
      ].map(
        (said) =>
          `backends.${said.replace(': ', ': expected an http or https URL without credentials, query and fragment, got ')}`,
      ),
    ),
    'decode for a topic that no field shows, or without a function of one argument': [
      bid(`${BIDS} other: Bid @event(topic: "others")`),
      [
        'decode: no @event names the topic "bidz"',
        'decode["bids"]: expected a function, got number → Write ({ value, key, headers, topic, partition, offset, timestamp }) => event.',
        'decode["others"]: expected a function of one argument, got one of 2',
      ],
      graphJs("{ decode: { '›bidz': () => null, ›bids: 5, ›others: (value, headers) => null } }"),
    ],
    'a default export that is not a definition': [
      bid(BIDS),
      'expected the default export to come from defineGraph, got object → export default defineGraph',
      '›export default { resolvers: {} };',
    ],
    'code that throws while it is loaded': [
      bid(BIDS),
      "the code of the graph can't be loaded: no such luck → whenever the graph is loaded",
      '\nthrow ›new Error("no such luck");',
    ],
    'fields that are filled by resolvers, or whose keys are kept': [
      `type Subscription { bid: Bid @event(topic: "b"), other: Other @event(topic: "o", keys: KEEP) }
      type Bid { sellerName: String, seller: Seller }
      type Seller { fullName: String }
      type Other { someKey: Int }`,
      [],
      graphJs('{ resolvers: { Bid: { sellerName: () => "", seller: () => ({}) } } }'),
    ],
  });

  it('names the files as the folder is named, and says so when there is none', async (t) => {
    const folder = path.relative(process.cwd(), await graphFolder(t, {}));
    const [found] = await checkGraph(folder);
    assert.equal(found?.file, path.join(folder, 'schema.graphql'));
    assert.match(found?.message ?? '', /expected a file that ends in .graphql, found none/);
  });
});

test('a diagnostic has its place first, as editors know it, and the hint on a line of its own', () => {
  const place = { file: 'a/schema.graphql', line: 3, column: 7 };
  const text = formatDiagnostic({
    severity: 'warning',
    ...place,
    message: 'this may be wrong',
    hint: 'Do that.',
  });
  assert.equal(text, 'a/schema.graphql:3:7: warning: this may be wrong\n    Do that.');
});
