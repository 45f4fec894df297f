import { describe } from 'node:test';
import { graphJs, testCases, type Case } from './cases.ts';

/** The subscription's directive stands on line 2, that of the type on 4, that of its field on 5. */
const bids = (onSubscription: string, onType = '', onField = '') => `type Subscription {
  bids(id: ID!, user_id: ID, from: Range): Bid @event(topic: "bids") ${onSubscription}
}
type Bid ${onType} {
  amount(of: ID): Int ${onField}
  owner_id: ID
  seller: Seller
  sellers: [Seller]
  open: Boolean
}
type Seller { id: ID! ids: [ID!] matrix: [[ID]] }
input Range { from: Int }
type Query { me(id: ID!): Bid }
`;

const CASES: readonly Case[] = [
  [
    'an argument that @auth does not have',
    bids('@auth(role: "admin")'),
    ['schema.graphql:2:76 error: Unknown argument "role" on directive "@auth".'],
    'requires, claim, owner and any',
  ],
  [
    'a value of @auth that is of the wrong type',
    bids('@auth(requires: ADMIN)'),
    ['schema.graphql:2:86 error: @auth: Argument "requires" has invalid value ADMIN.'],
    '[String!]',
  ],
  [
    '@auth on an argument',
    'type Subscription { bid(id: ID! @auth): Bid @event(topic: "b") }\ntype Bid { id: ID }',
    ['schema.graphql:1:33 error: Directive "@auth" may not be used on ARGUMENT_DEFINITION.'],
    'object types and fields',
  ],
  [
    '@auth on an interface',
    'type Subscription { bid: Bid @event(topic: "b") }\ntype Bid implements Node { id: ID }\ninterface Node @auth { id: ID }',
    ['schema.graphql:3:16 error: Directive "@auth" may not be used on INTERFACE.'],
    'object types and fields',
  ],
  [
    '@auth on an input type, and on a field of one',
    'type Subscription { bid(in: In): Bid @event(topic: "b") }\ntype Bid { id: ID }\ninput In @auth { id: ID @auth }',
    [
      'schema.graphql:3:10 error: Directive "@auth" may not be used on INPUT_OBJECT.',
      'schema.graphql:3:25 error: Directive "@auth" may not be used on INPUT_FIELD_DEFINITION.',
    ],
    'object types and fields',
  ],
  [
    'requires without values',
    bids('@auth(requires: [])'),
    ['schema.graphql:2:86 error: @auth: requires expects at least one value and no empty text, got []'],
    'all authenticated viewers',
  ],
  [
    'an empty text under requires',
    bids('@auth(requires: ["admin", ""])'),
    [
      'schema.graphql:2:86 error: @auth: requires expects at least one value and no empty text, got ["admin",""]',
    ],
    'all authenticated viewers',
  ],
  [
    'a claim without values',
    bids('@auth(claim: "org.role")'),
    ['schema.graphql:2:83 error: @auth: claim without requires'],
    'requires: [ … ]',
  ],
  [
    'a claim that is no path',
    bids('@auth(requires: "a", claim: "$viewer..role")'),
    ['schema.graphql:2:98 error: @auth: expected names separated by dots, got "$viewer..role"'],
    'realm.roles',
  ],
  [
    'an owner that names neither argument nor field',
    bids('@auth(owner: {})'),
    [
      'schema.graphql:2:83 error: @auth: owner expects either an argument or a field, not both and not neither',
    ],
    'owner: { field: "owner_id" }',
  ],
  [
    'an owner that names both',
    bids('@auth(owner: { argument: "id", field: "owner_id" })'),
    [
      'schema.graphql:2:83 error: @auth: owner expects either an argument or a field, not both and not neither',
    ],
    'owner: { field: "owner_id" }',
  ],
  [
    'alternatives of which none is left',
    bids('@auth(any: [])'),
    ['schema.graphql:2:81 error: @auth: any: [] lets no viewer pass'],
    'alternative',
  ],
  [
    'an alternative that asks for nothing',
    bids('@auth(any: [{ requires: "admin" }, {}])'),
    ['schema.graphql:2:105 error: @auth: an alternative of any asks for nothing'],
    'owner: { … }',
  ],
  [
    'an owner argument that does not exist',
    bids('@auth(owner: { argument: "userId" })'),
    ['schema.graphql:2:95 error: @auth: owner argument "userId" is no argument of Subscription.bids'],
    'Arguments: id, user_id and from.',
  ],
  [
    'an owner argument that can name no viewer',
    bids('@auth(owner: { argument: "from" })'),
    ['schema.graphql:2:95 error: @auth: owner argument "from" is of type Range'],
    'an ID, a String, an Int or a list',
  ],
  [
    'an owner argument on a type',
    bids('', '@auth(owner: { argument: "id" })'),
    ['schema.graphql:4:35 error: @auth: owner argument "id" on the type Bid: types have no arguments'],
    'on the fields',
  ],
  [
    'an owner argument in an alternative',
    bids('@auth(any: [{ requires: "admin" }, { owner: { argument: "userId" } }])'),
    ['schema.graphql:2:126 error: @auth: owner argument "userId" is no argument of Subscription.bids'],
    'Arguments: id, user_id and from.',
  ],
  [
    'an owner field that events do not have',
    bids('@auth(owner: { field: "user_id" })'),
    ['schema.graphql:2:92 error: @auth: owner field "user_id": Bid has no field "user_id"'],
    'Fields of Bid: amount, owner_id, seller, sellers and open.',
  ],
  [
    'an owner field that is missing further down',
    bids('@auth(owner: { field: "seller.user_id" })'),
    ['schema.graphql:2:92 error: @auth: owner field "seller.user_id": Seller has no field "user_id"'],
    'Fields of Seller: id, ids and matrix.',
  ],
  [
    'an owner field within a list',
    bids('@auth(owner: { field: "sellers.id" })'),
    ['schema.graphql:2:92 error: @auth: owner field "sellers.id": Bid.sellers is of type [Seller]'],
    'not looked up within lists',
  ],
  [
    'owner fields that can name no viewer',
    bids(
      '@auth(owner: { field: "open" })',
      '@auth(owner: { field: "seller" })',
      '@auth(owner: { field: "seller.matrix" })',
    ),
    [
      'schema.graphql:2:92 error: @auth: owner field "open": Bid.open is of type Boolean',
      'schema.graphql:4:32 error: @auth: owner field "seller": Bid.seller is of type Seller',
      'schema.graphql:5:45 error: @auth: owner field "seller.matrix": Seller.matrix is of type [[ID]]',
    ],
    'an ID, a String, an Int or a list',
  ],
  [
    'an owner field that the type around a field does not have',
    bids('', '', '@auth(owner: { field: "user" })'),
    ['schema.graphql:5:45 error: @auth: owner field "user": Bid has no field "user"'],
    'Fields of Bid',
  ],
  [
    'an owner field of a query',
    `${bids('')}extend type Query { mine: Bid @auth(owner: { field: "owner_id" }) }`,
    [
      'schema.graphql:14:53 error: @auth: owner field on Query: there is neither event nor object to read it from',
    ],
    'Name an argument',
  ],
  [
    'a fault in an extension of a type',
    `${bids('')}extend type Bid @auth(requires: [])`,
    ['schema.graphql:14:33 error: @auth: requires expects at least one value and no empty text, got []'],
    'all authenticated viewers',
  ],
  [
    'an owner field that an implementation of an interface lacks',
    'type Subscription { bid: Bid @event(topic: "b") }\ntype Bid implements Node { id: ID }\ninterface Node { id: ID @auth(owner: { field: "by" }) }',
    ['schema.graphql:3:47 error: @auth: owner field "by": Bid has no field "by"'],
    'Fields of Bid: id.',
  ],
  [
    'an owner field with a resolver',
    bids('@auth(owner: { field: "owner_id" })'),
    [
      'schema.graphql:2:92 warning: @auth: Bid.owner_id has a resolver, but owners are looked up without resolvers',
    ],
    'itself holds under owner_id',
    graphJs('{ resolvers: { Bid: { owner_id: () => 1 } } }'),
  ],
  [
    'fields that lead around what guards subscriptions',
    `${bids('@auth')}extend type Query { live: Subscription, any: [Any!] }\nunion Any = Subscription | Seller`,
    [
      'schema.graphql:14:21 error: @auth: Query.live returns Subscription, past what guards Subscription',
      'schema.graphql:14:41 error: @auth: Query.any returns [Any!], past what guards Subscription',
    ],
    'another type',
  ],
  [
    'a guarded field that is never null',
    `${bids('')}extend type Bid { secret: String! @auth }`,
    [
      'schema.graphql:14:19 warning: @auth: Bid.secret is never null, so a viewer that may not use it gets nothing of the Bid around it',
    ],
    'secret: String',
  ],
  [
    'nothing in rules about what events hold, where a resolver makes something else of them',
    bids('@auth(owner: { field: "of_the_event" })'),
    [],
    '',
    graphJs('{ resolvers: { Subscription: { bids: () => ({}) } } }'),
  ],
  [
    'nothing in rules that can be judged',
    bids(
      '@auth @auth(requires: "admin", claim: "realm.roles") @auth(owner: { argument: "id", claim: "sub" }) @auth(any: [{ requires: ["a", "b"] }, { owner: { field: "seller.ids" } }])',
      '@auth(owner: { field: "owner_id" })',
      '@auth(owner: { argument: "of" })',
    ),
    [],
    '',
  ],
];

describe('sluice check, of @auth', () => testCases(CASES));
