import { describe } from 'node:test';
import { bid, graphJs, testCases, testDirectives } from './cases.ts';

const filtered = (where: string, args?: string) =>
  bid(`@event(topic: "bids") @filter(where: ${where})`, args);

describe('sluice check, of filters,', () => {
  testDirectives(
    {
      '{ ›amout: { eq: 1 } }': '@filter: Bid has no field "amout" to filter on → auction_id, amount,',
      '{ seller: { ›nam: { eq: "a" } } }': '@filter: Seller has no field "nam" to filter on → id and name',
      '{ sellers: { ›name: { eq: "a" } } }':
        '@filter: "name" stands within a list, and filters do not look into lists → [Seller]',
      '{ amount: { ›above: { eq: 1 } } }':
        '@filter: "above" is neither an operator nor a field: Int has no fields → Operators: eq,',
      '{ amount: { ›ge: "$most" } }':
        '@filter: "ge" is neither an operator nor a field: Int has no fields → Did you mean gte? Operators: eq,',
      '{ amount: { ›ge: "$most", lt: 5 } }':
        '@filter: "ge" is neither an operator nor a field: Int has no fields → Did you mean gte?',
      '{ note: { ›contain: { eq: "a" } } }':
        '@filter: "contain" is neither an operator nor a field: String has no fields → Did you mean contains?',
      '{ tags: ›"$tag" }':
        '@filter: expected conditions in braces, got "$tag" → Write tags: { contains: … }: tags is a list.',
      '{ tags: { ›has: "$tag" } }':
        '@filter: "has" is neither an operator nor a field: String has no fields → Lists have contains. Operators: eq,',
      '{ sellers: ›"S1" }':
        '@filter: expected conditions in braces, got "S1" → The field is of type [Seller], and filters do not look into lists.',
      '{ seller: ›"S1", not: { seller: { name: ›"a" } } }': [
        '@filter: expected conditions in braces, got "S1" → seller is an object: name a field of Seller in the braces. Fields of Seller: id and name.',
        '@filter: expected conditions in braces, got "a" → Write name: { eq: … }; operators: eq,',
      ],
      '{ seller: { ›nam: "a" } }': '@filter: Seller has no field "nam" to filter on → id and name',
      '{ amount: ›5 }': '@filter: expected conditions in braces, got 5 → { eq: … }',
      '›{ }': '@filter: expected conditions in braces, got {} → { amount: { gte: 5 } }',
      '{ or: ›{ amount: { eq: 1 } } }':
        '@filter: expected a list of conditions under or, got {"amount":{"eq":1}} → or: [',
      '{ amount: { eq: ›"5" }, state: { in: [OPEN, ›"LOST"] }, open: { eq: ›1 } }': [
        '@filter: expected a number, got "5" → The field is of type Int.',
        '@filter: expected a value of State (OPEN and SOLD), got "LOST"',
        '@filter: expected true or false, got 1',
      ],
      '{ amount: { ›contains: 5 }, open: { ›gt: true }, tags: { ›eq: "a" }, auction_id: { ›lt: 5 } }': [
        '@filter: contains is for lists and text → The field is of type Int.',
        "@filter: gt can't order values of Boolean → Int, Float and String have an order. Of other types, list the values that are wanted: { in: [",
        '@filter: eq is not for lists: use contains',
        "@filter: lt can't order values of ID",
      ],
      '{ seller: { ›eq: 1 } }': "@filter: eq can't compare objects: name a field of Seller",
      '{ amount: { gt: ›null } }': "@filter: gt can't compare with null → eq or ne",
      '{ auction_id: { eq: ›"$viewer" } }':
        '@filter: expected a path like "$viewer.id", got "$viewer" → Name one value',
    },
    (where) => filtered(where),
  );

  testCases({
    'lists where one value belongs, and the other way round': [
      filtered(
        '{ amount: { eq: ›[1], in: ›1, ne: ›"$list" }, note: { in: ›"$one" } }',
        '(list: [Int], one: String)',
      ),
      [
        '@filter: eq expects one value, got a list → Use in to compare with several.',
        '@filter: in expects a list, got 1',
        '@filter: ne expects one value, got "$list" of type [Int]',
        '@filter: in expects a list, got "$one" of type String',
      ],
    ],
    'arguments of the wrong type or none at all': [
      filtered(
        '{ amount: { gte: ›"$note", lt: ›"$most", in: ›"$range" } }',
        '(note: String, range: [Range])',
      ),
      [
        '@filter: expected a number, got "$note" of type String',
        '@filter: Subscription.bid_placed has no argument "most" → Write "$$…"',
        '@filter: expected a number, got "$range" of type [Range]',
      ],
    ],
    'a value without an operator, of events whose type is not known': [
      filtered('{ anything: { ge: ›"$most" } }'),
      '@filter: expected conditions in braces, got "$most" → Did you mean gte? Write ge: { eq: … }; operators: eq,',
      graphJs('{ resolvers: { Subscription: { bid_placed: (event) => event } } }'),
    ],
    'a filter on a field that is resolved by code': [
      filtered('{ ›note: { eq: "a" } }'),
      'warning: @filter: Bid.note has a resolver, but filters run before resolvers → what the event itself holds',
      graphJs('{ resolvers: { Bid: { note: () => "a" } } }'),
    ],
    'a value of the viewer where clients have no way to authenticate': [
      filtered('{ note: { eq: "$viewer.team" } }').replace('bid_placed', '›bid_placed'),
      'warning: @filter: clients have no way to authenticate, so no viewer has a value to compare with → Set AUTH_SECRET',
      '',
      [],
    ],
    'values that viewers do not have by the settings, each once': [
      filtered(
        '{ or: [{ note: { in: ["$viewer.id", "$viewer.team.name"] } }, { tags: { contains: "$viewer.team.id" } }] }',
      ).replace('bid_placed', '›bid_placed'),
      'warning: @filter: no viewer has "team": AUTH_CLAIMS gives id → Add team to AUTH_CLAIMS',
      '',
      ['id'],
    ],
  });
});
