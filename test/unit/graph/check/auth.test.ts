import { describe } from 'node:test';
import { graphJs, testCases, testDirectives } from './cases.ts';

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

describe('sluice check, of @auth,', () => {
  testDirectives(
    {
      '@auth(›role: "admin")':
        'Unknown argument "role" on directive "@auth". → requires, claim, owner and any',
      '@auth(requires: ›ADMIN)': '@auth: Argument "requires" has invalid value ADMIN. → [String!]',
      '@auth(requires: ›[])':
        '@auth: requires expects at least one value and no empty text, got [] → all authenticated viewers',
      '@auth(requires: ›["admin", ""])':
        '@auth: requires expects at least one value and no empty text, got ["admin",""] → all authenticated viewers',
      '@auth(claim: ›"org.role")': '@auth: claim without requires → requires: [ … ]',
      '@auth(requires: "a", claim: ›"$viewer..role")':
        '@auth: expected names separated by dots, got "$viewer..role" → realm.roles',
      '@auth(owner: ›{})':
        '@auth: owner expects either an argument or a field, not both and not neither → owner: { field: "owner_id" }',
      '@auth(owner: ›{ argument: "id", field: "owner_id" })':
        '@auth: owner expects either an argument or a field, not both and not neither → owner: { field: "owner_id" }',
      '@auth(any: ›[])': '@auth: any: [] lets no viewer pass → alternative',
      '@auth(any: [{ requires: "admin" }, ›{}])':
        '@auth: an alternative of any asks for nothing → owner: { … }',
      '@auth(owner: { argument: ›"from" })':
        '@auth: owner argument "from" is of type Range → an ID, a String, an Int or a list',
      '@auth(any: [{ requires: "admin" }, { owner: { argument: ›"userId" } }])':
        '@auth: owner argument "userId" is no argument of Subscription.bids → Arguments: id, user_id and from.',
      '@auth(owner: { field: ›"user_id" })':
        '@auth: owner field "user_id": Bid has no field "user_id" → Fields of Bid: amount, owner_id, seller, sellers and open.',
      '@auth(owner: { field: ›"seller.user_id" })':
        '@auth: owner field "seller.user_id": Seller has no field "user_id" → Fields of Seller: id, ids and matrix.',
      '@auth(owner: { field: ›"sellers.id" })':
        '@auth: owner field "sellers.id": Bid.sellers is of type [Seller] → not looked up within lists',
    },
    (directive) => bids(directive),
  );

  testCases({
    '@auth on an argument, an interface, an input type, and a field of one': [
      'type Subscription { bid(id: ID! ›@auth, in: In): Bid @event(topic: "b") }\ntype Bid implements Node { id: ID }\ninterface Node ›@auth { id: ID }\ninput In ›@auth { id: ID ›@auth }',
      ['ARGUMENT_DEFINITION', 'INTERFACE', 'INPUT_OBJECT', 'INPUT_FIELD_DEFINITION'].map(
        (place) => `Directive "@auth" may not be used on ${place}. → object types and fields`,
      ),
    ],
    'an owner argument on a type': [
      bids('', '@auth(owner: { argument: ›"id" })'),
      '@auth: owner argument "id" on the type Bid: types have no arguments → on the fields',
    ],
    'owner fields that can name no viewer': [
      bids(
        '@auth(owner: { field: ›"open" })',
        '@auth(owner: { field: ›"seller" })',
        '@auth(owner: { field: ›"seller.matrix" })',
      ),
      [
        '@auth: owner field "open": Bid.open is of type Boolean → an ID, a String, an Int or a list',
        '@auth: owner field "seller": Bid.seller is of type Seller',
        '@auth: owner field "seller.matrix": Seller.matrix is of type [[ID]]',
      ],
    ],
    'an owner field that the type around a field does not have': [
      bids('', '', '@auth(owner: { field: ›"user" })'),
      '@auth: owner field "user": Bid has no field "user" → Fields of Bid',
    ],
    'an owner field of a query': [
      `${bids('')}extend type Query { mine: Bid @auth(owner: { field: ›"owner_id" }) }`,
      '@auth: owner field on Query: there is neither event nor object to read it from → Name an argument',
    ],
    'a fault in an extension of a type': [
      `${bids('')}extend type Bid @auth(requires: ›[])`,
      '@auth: requires expects at least one value and no empty text, got [] → all authenticated viewers',
    ],
    'an owner field that an implementation of an interface lacks': [
      'type Subscription { bid: Bid @event(topic: "b") }\ntype Bid implements Node { id: ID }\ninterface Node { id: ID @auth(owner: { field: ›"by" }) }',
      '@auth: owner field "by": Bid has no field "by" → Fields of Bid: id.',
    ],
    'an owner field with a resolver': [
      bids('@auth(owner: { field: ›"owner_id" })'),
      'warning: @auth: Bid.owner_id has a resolver, but owners are looked up without resolvers → itself holds under owner_id',
      graphJs('{ resolvers: { Bid: { owner_id: () => 1 } } }'),
    ],
    'fields that lead around what guards subscriptions': [
      `${bids('@auth')}extend type Query { ›live: Subscription, ›any: [Any!] }\nunion Any = Subscription | Seller`,
      [
        '@auth: Query.live returns Subscription, past what guards Subscription → another type',
        '@auth: Query.any returns [Any!], past what guards Subscription',
      ],
    ],
    'a guarded field that is never null': [
      `${bids('')}extend type Bid { ›secret: String! @auth }`,
      'warning: @auth: Bid.secret is never null, so a viewer that may not use it gets nothing of the Bid around it → secret: String',
    ],
    'rules about what events hold, where a resolver makes something else of them': [
      bids('@auth(owner: { field: "of_the_event" })'),
      [],
      graphJs('{ resolvers: { Subscription: { bids: () => ({}) } } }'),
    ],
    '@auth where clients have no way to authenticate': [
      bids('@auth(requires: "admin")').replace('bids(', '›bids('),
      "warning: @auth: clients have no way to authenticate, so no one may use what it guards → or write authenticate in the graph's code",
      '',
      [],
    ],
    'claims that viewers do not have by the settings, each once': [
      `${bids('@auth(any: [{ requires: "a" }, { owner: { argument: "id" } }]) @auth(requires: "b")', '@auth(requires: "a", claim: "realm.roles")').replace('bids(', '›bids(').replace('type Bid', '›type Bid')}`,
      [
        'warning: @auth: no viewer has "role": AUTH_CLAIMS gives id and org → Add role to AUTH_CLAIMS',
        'warning: @auth: no viewer has "realm": AUTH_CLAIMS gives id and org → or realm=… with the name',
      ],
      '',
      ['id', 'org'],
    ],
    'claims that viewers may have by the settings': [
      bids('@auth(requires: "a", claim: "realm.roles") @auth(owner: { argument: "id" }) @auth'),
      [],
      '',
      ['id', 'realm'],
    ],
    'any claim, where the graph says who the viewer is': [
      bids('@auth(requires: "a")'),
      [],
      graphJs('{ authenticate: () => ({}) }'),
      [],
    ],
    'rules that can be judged': [
      bids(
        '@auth @auth(requires: "admin", claim: "realm.roles") @auth(owner: { argument: "id", claim: "sub" }) @auth(any: [{ requires: ["a", "b"] }, { owner: { field: "seller.ids" } }])',
        '@auth(owner: { field: "owner_id" })',
        '@auth(owner: { argument: "of" })',
      ),
      [],
    ],
  });
});
