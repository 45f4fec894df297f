export interface Case {
  /** A subscription; tests turn it into a query as well. */
  readonly text: string;
  /** One set for each run; none: without variables. */
  readonly variables?: readonly Record<string, unknown>[];
  /** False: the compiler refuses it, so only graphql-js executes it. */
  readonly compiles?: boolean;
  /** True: compiled code has an error, so graphql-js executes it again. */
  readonly fallsBack?: boolean;
}

const CONDITIONS = [
  { yes: true, no: false },
  { yes: false, no: true },
  { yes: true, no: true },
  { yes: false, no: false },
];
const DECLARED = '($yes: Boolean!, $no: Boolean!)';

/** Documents by what is special about them; each is run with every root value of the zoo. */
export const DOCUMENTS: Readonly<Record<string, Case>> = {
  'each kind of leaf': { text: 'subscription { event { status at anything id } }' },
  aliases: {
    text: 'subscription { other: event { a: id b: title c: id title: count __typename t: __typename } }',
  },
  'aliases that mean something to JavaScript': {
    text: 'subscription { event { then: id length: id name: id seller { await: name this: age default: name } } }',
  },
  'aliases that every JavaScript object has': {
    text: 'subscription { event { constructor: id toString: title hasOwnProperty: count } }',
    compiles: false,
  },
  'nested fragments': {
    text: `subscription S { ...Root }
      fragment Root on Subscription { event { ...A seller { ...P } ... { count } ... on Event { price } } }
      fragment A on Event { id event { ...B title } }
      fragment B on Event { title id tags }
      fragment P on Person { name ...Q }
      fragment Q on Person { age friend { name } }`,
  },
  'fields selected more than once': {
    text: `subscription { event { id seller { name } ...F id } event { seller { age } title } }
      fragment F on Event { seller { friend { age } name } count id }`,
  },
  'lists, and lists of lists': {
    text: 'subscription { event { tags people { name } matrix parties { __typename } } }',
  },
  'strict lists': {
    text: 'subscription { event { id strict_people { name age } strict_matrix strict_tags } }',
  },
  'a list of what must have a field': { text: 'subscription { event { id people { name age } } }' },
  'a strict object': { text: 'subscription { event { id strict_seller { name } } }' },
  'a strict root field': { text: 'subscription { strict_event { id strict_tags } }' },
  interfaces: {
    text: `subscription { event { named { __typename name ... on Person { age shout } ... on Company { staff { name } founded } }
      all_named { name t: __typename ...P } } } fragment P on Person { friend { name } age }`,
  },
  'an interface in an interface': {
    text: 'subscription { event { all_named { ... on Person { named { __typename ... on Person { name } } } ... on Named { name } } } }',
  },
  unions: {
    text: `subscription { event { party { __typename ... on Named { name } ... on Person { age } }
      parties { ... on Company { staff { shout } } ... on Person { later { name } shout } } } }`,
  },
  'types known by isTypeOf': {
    text: 'subscription { event { id pet { __typename ... on Cat { meows } ... on Dog { barks } } } }',
    compiles: false,
  },
  'types that become known later': {
    text: 'subscription { event { id late_party { __typename ... on Named { name } } } }',
    fallsBack: true,
  },
  'synchronous errors among others': { text: 'subscription { event { id fails title fails_oddly count } }' },
  'errors with extensions': { text: 'subscription { event { fails_coded f: fails_coded id } }' },
  'errors thrown as nothing': { text: 'subscription { event { fails_with_nothing rejects_with_nothing } }' },
  'errors returned': { text: 'subscription { event { id returns_error } }' },
  'errors where there must be none': {
    text: 'subscription { event { id event { fails fails_strictly title } } }',
  },
  'rejections where there must be none': {
    text: 'subscription { event { id event { rejects rejects_strictly title } async_title } }',
  },
  rejections: { text: 'subscription { event { id rejects title r: rejects async_title } }' },
  'asynchronous resolvers': {
    text: 'subscription { event { async_title id async_seller { name shout later { name later { age } } } title } }',
  },
  'asynchronous lists': {
    text: 'subscription { event { async_people { name shout } people_each_async { name } async_matrix tag_set } }',
  },
  'an asynchronous root': { text: 'subscription { async_event { id seller { name } async_title } }' },
  'getters that throw': { text: 'subscription { event { id hostile { id title } } }' },
  'getters that throw below a promise': {
    text: 'subscription { event { async_title hostile_later { id title } } }',
  },
  'getters that throw below promises in a property': {
    text: 'subscription { event { hostile { id people { name } } } }',
  },
  'a thenable that is no promise': { text: 'subscription { event { thenable id } }' },
  'methods and promises as properties': {
    text: 'subscription { event { methods { title seller { name } tags anything } } }',
    fallsBack: true,
  },
  'a method where an object should be': {
    text: 'subscription { event { methods { seller { name } } } }',
    fallsBack: true,
  },
  'a promise where an interface should be': {
    text: 'subscription { event { methods { named { name } } } }',
    fallsBack: true,
  },
  'promises in a property that is a list': { text: 'subscription { event { methods { people { name } } } }' },
  'a map as source': { text: 'subscription { event { map { title tags } } }' },
  'literal arguments': {
    text: `subscription { event { seen_args(int: 1, strict: 2, text: "\\u2028 \\"q\\" \${x}", ids: [1, "2"], status: GONE,
      at: "2020-01-01", range: { to: 3, statuses: [OPEN], inner: { to: 4, from: null } },
      any: { a: [1, 2.5, true, null, ENUM, "x"], __proto__: { polluted: true } }) } }`,
  },
  'arguments left out': {
    text: 'subscription { event { seen_args a: seen_args(int: null, status: null) } }',
  },
  'a single value for a list': {
    text: 'subscription { event { seen_args(ids: 5, range: { to: 1, statuses: SOLD }) } }',
  },
  'variable arguments': {
    text: `subscription V($int: Int, $strict: Int! = 4, $text: String = "t", $ids: [ID!], $status: Status = GONE, $at: Instant = "2020-02-02",
      $range: Range = { to: 9 }, $any: Anything) { event {
      seen_args(int: $int, strict: $strict, text: $text, ids: $ids, status: $status, at: $at, range: $range, any: $any) } }`,
    variables: [
      {},
      { int: 5, strict: 6, text: 'x', ids: ['a', 1], status: 'OPEN', at: '2021-01-01', any: { x: [1] } },
      { range: { to: 2, inner: { to: 3, statuses: ['SOLD'] } }, ids: 'one', any: null },
      { int: null, text: null, ids: null, status: null, at: null, range: null },
      { int: 'five' },
      { int: 2 ** 40, strict: null, ids: [null], status: 'NOPE', at: 5, range: { from: 1, odd: true } },
      JSON.parse('{"range":{"to":1,"__proto__":{"from":2}},"__proto__":{"int":3}}') as Record<
        string,
        unknown
      >,
    ],
  },
  'variables inside of literals': {
    text: `subscription V($n: Int, $any: String) { event {
      seen_args(range: { from: $n, to: 2, statuses: [OPEN], inner: { to: 1, at: null } }, any: { x: [$any, 1] }) } }`,
    variables: [{}, { n: 4, any: 'a' }, { n: null, any: null }],
  },
  'a variable that must be there': {
    text: 'subscription V($text: String!) { event { must_have(text: $text) } }',
    variables: [{ text: 'x' }, {}, { text: null }, { text: 3 }],
  },
  'a variable with a default that is null': {
    text: 'subscription V($text: String = "d") { event { id must_have(text: $text) } }',
    variables: [{}, { text: 'x' }, { text: null }],
  },
  'names of variables that mean something to JavaScript': {
    text: 'subscription V($constructor: Int, $toString: String, $__proto__: ID!) { event { seen_args(int: $constructor, text: $toString, ids: [$__proto__]) } }',
    variables: [
      {},
      JSON.parse('{"constructor":1,"toString":"x","__proto__":"p"}') as Record<string, unknown>,
      { constructor: 2 },
    ],
  },
  'what a resolver is told': {
    text: `subscription Told($n: Int = 2) { event { seen_info(n: $n) again: seen_info event { ...F } } }
      fragment F on Event { seen_info(n: 1) }`,
    variables: [{}, { n: 5 }],
  },
  'keys that run together': {
    text: 'subscription { event { a: event { b: event { x: seen_info(n: 1) } } a_b: event { x: seen_info(n: 2) } } }',
  },
  'keys that would be one name in compiled code': {
    text: 'subscription { event { b_a: seen_info a_b: event { x: seen_info(n: 1) } b: event { a: event { x: seen_info(n: 2) } } a: event { b: event { x: seen_info(n: 3) } } } }',
    compiles: false,
  },
  'a key called __proto__': {
    text: 'subscription { event { __proto__: title id seller { __proto__: name } } }',
    compiles: false,
  },
  '@skip and @include': {
    text: `subscription C${DECLARED} { event { id @skip(if: $yes) title @include(if: $no) count @skip(if: $no) @include(if: $yes)
      seller @include(if: $yes) { name @skip(if: $no) age } ... @include(if: $no) { price sold } } }`,
    variables: CONDITIONS,
  },
  '@skip and @include without variables': {
    text: 'subscription { event { id @skip(if: true) title @include(if: true) ... @include(if: false) { count } } }',
  },
  'one fragment under different conditions': {
    text: `subscription C${DECLARED} { event { ...F @include(if: $yes) ...F @skip(if: $no) event { ...F @include(if: $no) } seller { ...P @skip(if: $yes) ...P } } }
      fragment F on Event { id title @include(if: $no) seller { ...P @include(if: $yes) } }
      fragment P on Person { name age @skip(if: $no) }`,
    variables: CONDITIONS,
  },
  'one field under different conditions': {
    text: `subscription C${DECLARED} { event { title @include(if: $yes) count title seller @include(if: $yes) { name } seller @skip(if: $no) { age }
      seller { friend @include(if: $no) { name } friend @skip(if: $yes) { age } } } }`,
    variables: CONDITIONS,
  },
  'conditions on resolvers, lists and types': {
    text: `subscription C${DECLARED} { event { async_title @include(if: $yes) fails @skip(if: $yes) people @include(if: $no) { shout @skip(if: $yes) name }
      named { ... on Company @include(if: $yes) { name } ...N @skip(if: $no) __typename @include(if: $yes) } } }
      fragment N on Named { name }`,
    variables: CONDITIONS,
  },
  'everything left out': {
    text: `subscription C${DECLARED} { event { seller { name @skip(if: $yes) } id @include(if: $no) } }`,
    variables: CONDITIONS,
  },
  'a condition that is null': {
    text: 'subscription C($maybe: Boolean = true) { event { id seller { name @include(if: $maybe) } title } }',
    variables: [{}, { maybe: false }],
  },
};
