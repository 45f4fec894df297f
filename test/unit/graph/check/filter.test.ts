import { describe } from 'node:test';
import { bid, graphJs, testCases, type Case } from './cases.ts';

const filtered = (where: string, args?: string) =>
  bid(`@event(topic: "bids") @filter(where: ${where})`, args);

const CASES: readonly Case[] = [
  [
    'a filter on a field that is not there',
    filtered('{ amout: { eq: 1 } }'),
    ['schema.graphql:3:44 error: @filter: Bid has no field "amout" to filter on'],
    'auction_id, amount,',
  ],
  [
    'a filter on a nested field that is not there',
    filtered('{ seller: { nam: { eq: "a" } } }'),
    ['schema.graphql:3:54 error: @filter: Seller has no field "nam" to filter on'],
    'id and name',
  ],
  [
    'a filter that goes into a list',
    filtered('{ sellers: { name: { eq: "a" } } }'),
    ['schema.graphql:3:55 error: @filter: "name" stands within a list, and filters do not look into lists'],
    '[Seller]',
  ],
  [
    'an operator that is not there',
    filtered('{ amount: { above: { eq: 1 } } }'),
    ['schema.graphql:3:54 error: @filter: "above" is neither an operator nor a field: Int has no fields'],
    'Operators: eq,',
  ],
  [
    'a condition without operator',
    filtered('{ amount: 5 }'),
    ['schema.graphql:3:52 error: @filter: expected conditions in braces, got 5'],
    '{ eq: … }',
  ],
  [
    'a filter without conditions',
    filtered('{ }'),
    ['schema.graphql:3:42 error: @filter: expected conditions in braces, got {}'],
    '{ amount: { gte: 5 } }',
  ],
  [
    'or without a list',
    filtered('{ or: { amount: { eq: 1 } } }'),
    ['schema.graphql:3:48 error: @filter: expected a list of conditions under or, got {"amount":{"eq":1}}'],
    'or: [',
  ],
  [
    'literals of the wrong type',
    filtered('{ amount: { eq: "5" }, state: { in: [OPEN, "LOST"] }, open: { eq: 1 } }'),
    [
      'schema.graphql:3:58 error: @filter: expected a number, got "5"',
      'schema.graphql:3:85 error: @filter: expected a value of State (OPEN and SOLD), got "LOST"',
      'schema.graphql:3:108 error: @filter: expected true or false, got 1',
    ],
    'The field is of type Int.',
  ],
  [
    'operators that make no sense for a type',
    filtered(
      '{ amount: { contains: 5 }, open: { gt: true }, tags: { eq: "a" }, auction_id: { lt: 5 }, seller: { eq: 1 } }',
    ),
    [
      'schema.graphql:3:54 error: @filter: contains is for lists and text',
      "schema.graphql:3:77 error: @filter: gt can't order values of Boolean",
      'schema.graphql:3:97 error: @filter: eq is not for lists: use contains',
      "schema.graphql:3:122 error: @filter: lt can't order values of ID",
      "schema.graphql:3:141 error: @filter: eq can't compare objects: name a field of Seller",
    ],
    'The field is of type Int.',
  ],
  [
    'null where there is nothing to compare with it',
    filtered('{ amount: { gt: null } }'),
    ["schema.graphql:3:58 error: @filter: gt can't compare with null"],
    'eq or ne',
  ],
  [
    'lists where one value belongs, and the other way round',
    filtered(
      '{ amount: { eq: [1], in: 1, ne: "$list" }, note: { in: "$one" } }',
      '(list: [Int], one: String)',
    ),
    [
      'schema.graphql:3:58 error: @filter: eq expects one value, got a list',
      'schema.graphql:3:67 error: @filter: in expects a list, got 1',
      'schema.graphql:3:74 error: @filter: ne expects one value, got "$list" of type [Int]',
      'schema.graphql:3:97 error: @filter: in expects a list, got "$one" of type String',
    ],
    'Use in to compare with several.',
  ],
  [
    'arguments of the wrong type or none at all',
    filtered('{ amount: { gte: "$note", lt: "$most", in: "$range" } }', '(note: String, range: [Range])'),
    [
      'schema.graphql:3:59 error: @filter: expected a number, got "$note" of type String',
      'schema.graphql:3:72 error: @filter: Subscription.bid_placed has no argument "most"',
      'schema.graphql:3:85 error: @filter: expected a number, got "$range" of type [Range]',
    ],
    'Write "$$…"',
  ],
  [
    'a filter that names the viewer as a whole',
    filtered('{ auction_id: { eq: "$viewer" } }'),
    ['schema.graphql:3:62 error: @filter: expected a path like "$viewer.id", got "$viewer"'],
    'Name one value',
  ],
  [
    'a filter on a field that is resolved by code',
    filtered('{ note: { eq: "a" } }'),
    ['schema.graphql:3:44 warning: @filter: Bid.note has a resolver, but filters run before resolvers'],
    'what the event itself holds',
    graphJs('{ resolvers: { Bid: { note: () => "a" } } }'),
  ],
];

describe('checkGraph, of filters,', () => testCases(CASES));
