import assert from 'node:assert/strict';
import { buildSchema, parse, validate, type GraphQLSchema } from 'graphql';
import { describe, it } from 'node:test';
import { exampleOperations } from '../../../src/server/example-operations.ts';

function schemaOf(sdl: string): GraphQLSchema {
  return buildSchema(`type Query { ok: Boolean }\n${sdl}`);
}

/** The example without its comments. Checks that it is valid against the schema. */
function exampleOf(sdl: string): string {
  const schema = schemaOf(sdl);
  const [example] = exampleOperations(schema);
  assert.deepEqual(validate(schema, parse(example)), [], example);
  return example.replace(/^#.*\n+/gm, '');
}

const TYPENAME = /e \{\n {4}__typename\n {2}\}/;

describe('exampleOperations', () => {
  it('selects leaves and nested objects', () => {
    assert.equal(
      exampleOf(`
        type Subscription { property_update: PropertyUpdate! }
        type PropertyUpdate { id: ID! prices: [Int!]! status: Status seller: [Seller!] }
        type Seller { name: String }
        enum Status { OPEN SOLD }
      `),
      `subscription PropertyUpdate {
  property_update {
    id
    prices
    status
    seller {
      name
    }
  }
}
`,
    );
  });

  it('prefers a field that runs without arguments', () => {
    const example = exampleOf('type Subscription { bid(id: ID!): Int tick(id: ID, n: Int! = 1): Int }');
    assert.equal(example, 'subscription Tick {\n  tick\n}\n');
  });

  it('passes over deprecated fields, unless there is no other', () => {
    assert.match(exampleOf('type Subscription { old: Int @deprecated new: Int }'), /new/);
    assert.match(exampleOf('type Subscription { old: Int @deprecated }'), /old/);
  });

  it('makes up values for required arguments of any type, and says so', () => {
    const sdl = `
      type Subscription { a(id: ID!, s: String!, i: Int!, f: Float!, b: Boolean!, l: [ID!]!, e: E!, o: O!, d: D!, x: Int): Int }
      enum E { FIRST SECOND }
      input O { must: P! may: Int }
      input P { n: Int! }
      scalar D
    `;
    assert.equal(
      exampleOf(sdl),
      'subscription A {\n  a(id: "1", s: "1", i: 1, f: 1.5, b: true, l: ["1"], e: FIRST, o: { must: { n: 1 } }, d: "1")\n}\n',
    );
    assert.match(exampleOperations(schemaOf(sdl))[0], /^# The arguments are made up/m);
  });

  it('begins with instructions, and names the arguments that may be added', () => {
    assert.equal(
      exampleOperations(schemaOf('type Subscription { tick(id: ID, tags: [String!] = ["a"]): Int }'))[0],
      `# Press play (Ctrl-Enter) to see events arrive.
# tick also takes:
#   id: ID
#   tags: [String!]

subscription Tick {
  tick
}
`,
    );
  });

  for (const [what, sdl, selected] of [
    [
      'leaves out fields that need arguments or are deprecated',
      'e: E } type E { a: Int b(x: Int!): Int c: Int @deprecated d(x: Int): Int }',
      /\{\n {4}a\n {4}d\n {2}\}/,
    ],
    [
      'selects __typename where a type has no other field to select',
      'e: E } type E { a(x: Int!): Int }',
      TYPENAME,
    ],
    ['selects __typename of a union', 'e: U } union U = A | B type A { x: Int } type B { y: Int }', TYPENAME],
    [
      'selects the fields of an interface, and __typename',
      'e: I } interface I { id: ID } type A implements I { id: ID a: Int }',
      /e \{\n {4}__typename\n {4}id\n {2}\}/,
    ],
  ] as const) {
    it(what, () => assert.match(exampleOf(`type Subscription { ${sdl}`), selected));
  }

  it('ends where types refer to themselves', () => {
    const example = exampleOf('type Subscription { node: Node } type Node { id: ID parent: Node }');
    assert.equal(example.match(/parent/g)?.length, 2);
  });

  it('ends where types are wide', () => {
    const fields = Array.from({ length: 200 }, (_, index) => `f${index}: Node`).join(' ');
    const example = exampleOf(`type Subscription { node: Node } type Node { id: ID ${fields} }`);
    assert.ok(example.split('\n').length < 150, `${example.split('\n').length} lines`);
  });

  it('has a query beside the subscription, which names it: the first that returns objects without arguments', () => {
    const schema = buildSchema(`
      type Query { n: Int by_id(id: ID!): Auction old: Auction @deprecated auctions: [Auction!]! more: Auction }
      type Auction { id: ID! room: String }
      type Subscription { tick: Int }
    `);
    const [subscription, query = '', ...rest] = exampleOperations(schema);
    assert.match(subscription, /^# The next tab has a query: auctions\.$/m);
    assert.deepEqual(validate(schema, parse(query)), []);
    assert.equal(
      query,
      '# A query, which is answered once.\n\nquery Auctions {\n  auctions {\n    id\n    room\n  }\n}\n',
    );
    assert.deepEqual(rest, []);
    assert.equal(exampleOperations(schemaOf('type Subscription { tick: Int }')).length, 1);
  });

  it('has a subscription with required arguments at the end, if the first one has none', () => {
    const schema = buildSchema(`
      type Query { auctions: [Auction!]! }
      type Auction { id: ID! }
      type Subscription { tick(id: ID): Int old(id: ID!): Int @deprecated bid(auction_id: ID!, min: Int): Int other(id: ID!): Int }
    `);
    const [first = '', query = '', last = '', ...rest] = exampleOperations(schema);
    assert.match(first, /^subscription Tick \{/m);
    assert.match(query, /^query Auctions \{/m);
    assert.deepEqual(validate(schema, parse(last)), []);
    assert.equal(
      last,
      `# Press play (Ctrl-Enter) to see events arrive.
# The arguments are made up: put in your own.
# bid also takes:
#   min: Int

subscription Bid {
  bid(auction_id: "1")
}
`,
    );
    assert.deepEqual(rest, []);
    assert.equal(exampleOperations(schemaOf('type Subscription { bid(id: ID!): Int }')).length, 1);
  });

  it('is a query where the graph has no subscriptions', () => {
    assert.match(exampleOf(''), /^\{\n {2}__typename\n\}/);
  });
});
