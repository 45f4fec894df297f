import { buildSchema, GraphQLError, Kind, valueFromASTUntyped, type GraphQLResolveInfo } from 'graphql';
import type { FieldResolver, ScalarCode } from '../../../src/graph/api/resolvers.ts';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';

/** A schema with one of everything in which graphql-js and compiled code could differ. */
export const schema = buildSchema(`
  enum Status { OPEN SOLD GONE }
  scalar Instant
  scalar Anything
  input Range { from: Int = 1 to: Int! statuses: [Status!] = [SOLD] at: Instant inner: Range }

  interface Named { name: String }
  type Person implements Named {
    name: String age: Int! friend: Person named: Named shout: String later: Person
  }
  type Company implements Named { name: String staff: [Person!] founded: Instant }
  union Party = Person | Company
  union LateParty = Person | Company
  type Cat { meows: Boolean }
  type Dog { barks: Boolean }
  union Pet = Cat | Dog

  type Event {
    id: ID! title: String count: Int price: Float sold: Boolean status: Status at: Instant anything: Anything
    tags: [String] strict_tags: [String!]! matrix: [[Int]] strict_matrix: [[Int!]!]
    seller: Person strict_seller: Person! people: [Person] strict_people: [Person!]
    named: Named all_named: [Named] party: Party late_party: LateParty parties: [[Party]!] pet: Pet
    event: Event

    fails: String fails_coded: String fails_strictly: String! fails_oddly: String fails_with_nothing: String
    returns_error: String rejects: String rejects_with_nothing: String rejects_strictly: String!
    async_title: String async_seller: Person async_people: [Person] people_each_async: [Person]
    tag_set: [String] async_matrix: [[Int]]
    hostile: Event hostile_later: Event thenable: String methods: Event map: Event

    seen_args(
      int: Int = 7, strict: Int! = 8, text: String, ids: [ID!], status: Status = SOLD,
      at: Instant = "1970-01-01", range: Range, any: Anything
    ): Anything
    must_have(text: String!): String
    seen_info(n: Int): Anything
  }
  type Query { event(id: ID, ids: [ID!], first: Int): Event async_event: Event strict_event: Event! }
  type Mutation { event(id: ID, ids: [ID!], first: Int): Event async_event: Event strict_event: Event! }
  type Subscription { event(id: ID, ids: [ID!], first: Int): Event async_event: Event strict_event: Event! }
`);

const Instant: ScalarCode = {
  serialize: (value) => {
    if (!(value instanceof Date)) throw new TypeError(`Instant: expected a Date, got ${typeof value}`);
    return value.toISOString();
  },
  parseValue: (value) => {
    if (typeof value !== 'string')
      throw new GraphQLError('Instant: expected text', { extensions: { code: 'T' } });
    return new Date(value);
  },
  parseLiteral: (node) => {
    if (node.kind !== Kind.STRING) throw new TypeError('Instant: expected text');
    return new Date(node.value);
  },
};

const Anything: ScalarCode = {
  serialize: (value) => (value === 'nothing' ? null : value),
  parseValue: (value) => value,
  parseLiteral: valueFromASTUntyped,
};

const thrower = (thrown: unknown) => (): never => {
  throw thrown;
};

const Event: Record<string, FieldResolver> = {
  fails: () => thrower(new Error('broken'))(),
  fails_coded: () => thrower(new GraphQLError('coded', { extensions: { code: 'CODE' } }))(),
  fails_strictly: () => thrower(new Error('strictly'))(),
  fails_oddly: thrower('a string'),
  fails_with_nothing: thrower(undefined),
  returns_error: () => new Error('returned'),
  rejects: () => Promise.reject(new Error('rejected')),
  rejects_with_nothing: () => Promise.reject(),
  rejects_strictly: () => Promise.reject(new Error('rejected strictly')),
  async_title: async ({ title }) => title as unknown,
  async_seller: async ({ seller }) => seller as unknown,
  async_people: async ({ people }) => people as unknown,
  people_each_async: ({ people }: { people?: unknown[] }) => people?.map(async (person) => person),
  tag_set: ({ tags }: { tags?: string[] }) => new Set(tags),
  async_matrix: ({ matrix }: { matrix?: unknown[][] }) =>
    matrix?.map((row) => row?.map(async (item) => item)),
  hostile: () => ({
    id: 'h',
    people: [
      Promise.resolve({
        get name(): never {
          throw new Error('getter in a list');
        },
      }),
    ],
    get title(): never {
      throw new Error('getter');
    },
  }),
  hostile_later: async () => ({
    id: 'h',
    get title(): never {
      throw new Error('getter');
    },
  }),
  thenable: () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- what a graph's own code may return
    then: (...callbacks: Parameters<Promise<string>['then']>) => Promise.resolve('then').then(...callbacks),
  }),
  methods: () => ({
    id: 'm',
    title: ({ length }: { length?: number }) => `called with ${length}`,
    seller: () => ({ name: 'by method', age: 1 }),
    named: Promise.resolve({ kind: 'Person', name: 'promised', age: 2 }),
    people: [Promise.resolve({ name: 'in a list', age: 3 })],
    anything: () => ({ made: true }),
    tags: () => ['t'],
  }),
  map: () => new Map([['id', 'in a map']]),
  seen_args: (_, args) => shown(args),
  must_have: (_, { text }: { text: string }) => text,
  seen_info: (_, args, context, info) => ({
    args: args as unknown,
    context,
    fieldName: info.fieldName,
    nodes: info.fieldNodes.map(({ alias, arguments: given, directives }) => [
      alias?.value,
      given?.length,
      directives?.length,
    ]),
    returnType: String(info.returnType),
    parentType: info.parentType === schema.getType('Event'),
    schema: info.schema === schema,
    fragments: Object.keys(info.fragments),
    operation: [info.operation.name?.value, info.operation.selectionSet.selections.length],
    variables: shown(info.variableValues),
    rootValue: Object.keys(info.rootValue as object),
    path: levels(info.path),
  }),
};

const root: Record<string, FieldResolver> = {
  async_event: async ({ event }) => event as unknown,
  strict_event: ({ event }) => event as unknown,
};

/** Returns the kind of an animal. One that has no kind may have an error in its place. */
const kindOf = ({ kind, error }: { kind?: string; error?: unknown }): string | undefined =>
  error === undefined ? kind : thrower(error)();

attachResolvers(schema, {
  Status: { OPEN: 1, SOLD: Symbol.for('sold') as never, GONE: 'gone-inside' },
  Instant,
  Anything,
  Named: { __resolveType: kindOf },
  Person: {
    shout: ({ name }: { name?: string }) => name?.toUpperCase(),
    later: async ({ friend }: { friend?: unknown }) => friend,
  },
  Company: { name: ({ name }: { name?: string }) => `${name} Ltd` },
  LateParty: { __resolveType: async (value: object) => kindOf(value) ?? thrower(new Error('no kind'))() },
  Cat: { __isTypeOf: (value: object) => 'meows' in value },
  Dog: { __isTypeOf: async (value: object) => 'barks' in value },
  Event,
  Query: root,
  Mutation: root,
  Subscription: root,
} as never);

/** Returns the value as text with everything in it that JSON would lose. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'symbol' ? String(item) : item));
}

type Path = GraphQLResolveInfo['path'];

/** Each level of a path, the root first: key and typename. */
function levels(path: Path | undefined): [string | number, string | undefined][] {
  return path === undefined ? [] : [...levels(path.prev), [path.key, path.typename]];
}
