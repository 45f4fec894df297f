import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  Kind,
  valueFromASTUntyped,
  type GraphQLFieldConfigMap,
} from 'graphql';

/** A schema with one of everything in which graphql-js and compiled code could differ. */

const list = <T extends ConstructorParameters<typeof GraphQLList>[0]>(type: T): GraphQLList<T> =>
  new GraphQLList(type);
const required = <T extends ConstructorParameters<typeof GraphQLNonNull>[0]>(type: T): GraphQLNonNull<T> =>
  new GraphQLNonNull(type);

const Status = new GraphQLEnumType({
  name: 'Status',
  values: { OPEN: { value: 1 }, SOLD: { value: Symbol.for('sold') }, GONE: { value: 'gone-inside' } },
});

const Instant = new GraphQLScalarType<Date, string>({
  name: 'Instant',
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
});

const Anything = new GraphQLScalarType({
  name: 'Anything',
  serialize: (value) => (value === 'nothing' ? null : value),
  parseValue: (value) => value,
  parseLiteral: valueFromASTUntyped,
});

const Range: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'Range',
  fields: () => ({
    from: { type: GraphQLInt, defaultValue: 1 },
    to: { type: required(GraphQLInt) },
    statuses: { type: list(required(Status)), defaultValue: [Symbol.for('sold')] },
    at: { type: Instant },
    inner: { type: Range },
  }),
});

const Named = new GraphQLInterfaceType({
  name: 'Named',
  fields: { name: { type: GraphQLString } },
  resolveType: (value: { kind?: string; error?: unknown }) => {
    if (value.error !== undefined) throw value.error;
    return value.kind;
  },
});

const Person: GraphQLObjectType = new GraphQLObjectType({
  name: 'Person',
  interfaces: [Named],
  fields: () => ({
    name: { type: GraphQLString },
    age: { type: required(GraphQLInt) },
    friend: { type: Person },
    named: { type: Named },
    shout: { type: GraphQLString, resolve: ({ name }: { name?: string }) => name?.toUpperCase() },
    later: { type: Person, resolve: async (person: { name?: string; friend?: unknown }) => person.friend },
  }),
});

const Company = new GraphQLObjectType({
  name: 'Company',
  interfaces: [Named],
  fields: () => ({
    name: { type: GraphQLString, resolve: ({ name }: { name?: string }) => `${name} Ltd` },
    staff: { type: list(required(Person)) },
    founded: { type: Instant },
  }),
});

const Party = new GraphQLUnionType({ name: 'Party', types: [Person, Company] });

const Cat = new GraphQLObjectType<{ meows?: boolean }>({
  name: 'Cat',
  isTypeOf: (value) => value.meows !== undefined,
  fields: { meows: { type: GraphQLBoolean } },
});
const Dog = new GraphQLObjectType<{ barks?: boolean }>({
  name: 'Dog',
  isTypeOf: async (value) => value.barks !== undefined,
  fields: { barks: { type: GraphQLBoolean } },
});
const Pet = new GraphQLUnionType({ name: 'Pet', types: [Cat, Dog] });

const thrower = (thrown: () => unknown) => (): never => {
  throw thrown();
};

const Event: GraphQLObjectType = new GraphQLObjectType({
  name: 'Event',
  fields: (): GraphQLFieldConfigMap<Record<string, unknown>, unknown> => ({
    id: { type: required(GraphQLID) },
    title: { type: GraphQLString },
    count: { type: GraphQLInt },
    price: { type: GraphQLFloat },
    sold: { type: GraphQLBoolean },
    status: { type: Status },
    at: { type: Instant },
    anything: { type: Anything },
    tags: { type: list(GraphQLString) },
    strict_tags: { type: required(list(required(GraphQLString))) },
    matrix: { type: list(list(GraphQLInt)) },
    strict_matrix: { type: list(required(list(required(GraphQLInt)))) },
    seller: { type: Person },
    strict_seller: { type: required(Person) },
    people: { type: list(Person) },
    strict_people: { type: list(required(Person)) },
    named: { type: Named },
    all_named: { type: list(Named) },
    party: { type: Party },
    parties: { type: list(required(list(Party))) },
    pet: { type: Pet },
    event: { type: Event },

    fails: { type: GraphQLString, resolve: thrower(() => new Error('broken')) },
    fails_coded: {
      type: GraphQLString,
      resolve: thrower(() => new GraphQLError('coded', { extensions: { code: 'CODE' } })),
    },
    fails_strictly: { type: required(GraphQLString), resolve: thrower(() => new Error('strictly')) },
    fails_oddly: { type: GraphQLString, resolve: thrower(() => 'a string') },
    fails_with_nothing: { type: GraphQLString, resolve: thrower(() => undefined) },
    returns_error: { type: GraphQLString, resolve: () => new Error('returned') },
    rejects: { type: GraphQLString, resolve: () => Promise.reject(new Error('rejected')) },
    rejects_with_nothing: { type: GraphQLString, resolve: () => Promise.reject() },
    rejects_strictly: {
      type: required(GraphQLString),
      resolve: () => Promise.reject(new Error('rejected strictly')),
    },
    async_title: { type: GraphQLString, resolve: async ({ title }) => title },
    async_seller: { type: Person, resolve: async ({ seller }) => seller },
    async_people: { type: list(Person), resolve: async ({ people }) => people },
    people_each_async: {
      type: list(Person),
      resolve: ({ people }) => (people as unknown[] | undefined)?.map(async (person) => person),
    },
    tag_set: { type: list(GraphQLString), resolve: ({ tags }) => new Set(tags as string[] | undefined) },
    async_matrix: {
      type: list(list(GraphQLInt)),
      resolve: ({ matrix }) =>
        (matrix as unknown[][] | undefined)?.map((row) => row?.map(async (item) => item)),
    },
    hostile: {
      type: Event,
      resolve: () => ({
        id: 'h',
        get title(): never {
          throw new Error('getter');
        },
      }),
    },
    hostile_later: {
      type: Event,
      resolve: async () => ({
        id: 'h',
        get title(): never {
          throw new Error('getter');
        },
      }),
    },
    thenable: {
      type: GraphQLString,
      resolve: () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- what a graph's own code may return
        then: (...callbacks: Parameters<Promise<string>['then']>) =>
          Promise.resolve('then').then(...callbacks),
      }),
    },
    methods: {
      type: Event,
      resolve: () => ({
        id: 'm',
        title: ({ length }: { length?: number }) => `called with ${length}`,
        seller: () => ({ name: 'by method', age: 1 }),
        named: Promise.resolve({ kind: 'Person', name: 'promised', age: 2 }),
        people: [Promise.resolve({ name: 'in a list', age: 3 })],
        anything: () => ({ made: true }),
        tags: () => ['t'],
      }),
    },
    map: { type: Event, resolve: () => new Map([['id', 'in a map']]) },

    seen_args: {
      type: Anything,
      args: {
        int: { type: GraphQLInt, defaultValue: 7 },
        strict: { type: required(GraphQLInt), defaultValue: 8 },
        text: { type: GraphQLString },
        ids: { type: list(required(GraphQLID)) },
        status: { type: Status, defaultValue: Symbol.for('sold') },
        at: { type: Instant, defaultValue: new Date(0) },
        range: { type: Range },
        any: { type: Anything },
      },
      resolve: (_, args) => shown(args),
    },
    must_have: {
      type: GraphQLString,
      args: { text: { type: required(GraphQLString) } },
      resolve: (_, { text }: { text: string }) => text,
    },
    seen_info: {
      type: Anything,
      args: { n: { type: GraphQLInt } },
      resolve: (_, args, context, info) => ({
        args,
        context,
        fieldName: info.fieldName,
        nodes: info.fieldNodes.map(({ alias, arguments: given, directives }) => [
          alias?.value,
          given?.length,
          directives?.length,
        ]),
        returnType: String(info.returnType),
        parentType: info.parentType === Event,
        schema: info.schema === schema,
        fragments: Object.keys(info.fragments),
        operation: [info.operation.name?.value, info.operation.selectionSet.selections.length],
        variables: shown(info.variableValues),
        rootValue: Object.keys(info.rootValue as object),
        path: pathKeys(info.path),
      }),
    },
  }),
});

const root = {
  event: {
    type: Event,
    args: { id: { type: GraphQLID }, ids: { type: list(required(GraphQLID)) }, first: { type: GraphQLInt } },
  },
  async_event: { type: Event, resolve: async (source: unknown) => (source as { event: unknown }).event },
  strict_event: { type: required(Event), resolve: (source: unknown) => (source as { event: unknown }).event },
};

export const schema: GraphQLSchema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: root }),
  mutation: new GraphQLObjectType({ name: 'Mutation', fields: root }),
  subscription: new GraphQLObjectType({ name: 'Subscription', fields: root }),
  types: [Person, Company],
});

/** As text with everything in it that JSON would lose. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'symbol' ? String(item) : item));
}

function pathKeys(path: { key: string | number; prev: unknown } | undefined): (string | number)[] {
  return path === undefined ? [] : [...pathKeys(path.prev as typeof path), path.key];
}

const ann = { name: 'Ann', age: 30, kind: 'Person', __typename: 'Person' };
const bob = { name: 'Bob', age: 40, kind: 'Person', __typename: 'Person', friend: ann, named: ann };
const acme = {
  name: 'Acme',
  kind: 'Company',
  __typename: 'Company',
  staff: [ann, bob],
  founded: new Date(5),
};

/** Root values by what they are. */
export const ROOTS: Readonly<Record<string, unknown>> = {
  'a full event': {
    event: {
      id: 'e1',
      title: 'Lamp',
      count: 3,
      price: 1.5,
      sold: false,
      status: 1,
      at: new Date(1_000),
      anything: { deep: [1, { x: null }] },
      tags: ['a', null, 'b'],
      strict_tags: ['x'],
      matrix: [[1, 2], null, [], [null]],
      strict_matrix: [[1], [2, 3]],
      seller: bob,
      strict_seller: ann,
      people: [ann, null, bob],
      strict_people: [ann],
      named: acme,
      all_named: [ann, acme, null],
      party: acme,
      parties: [[ann, acme], [null]],
      pet: { meows: true },
      event: { id: 'e2', title: 'Inner', tags: [], strict_tags: [], event: { id: 'e3' } },
    },
  },
  'an event with little in it': { event: { id: 2, strict_tags: [] } },
  'an event with nulls where there must be none': {
    event: {
      id: 'n',
      title: null,
      strict_tags: ['a', null],
      strict_matrix: [[1, null], null],
      seller: { name: 'No age' },
      strict_seller: null,
      people: [{ name: 'No age' }, ann],
      strict_people: [ann, null],
      named: { ...acme, staff: [ann, { name: 'No age' }] },
      parties: [null],
      event: { id: null },
    },
  },
  'an event with wrong types': {
    event: {
      id: {},
      title: { text: 1 },
      count: 'many',
      price: 'dear',
      sold: 'maybe',
      status: 'OPEN',
      at: 'today',
      anything: 'nothing',
      tags: 'not a list',
      strict_tags: [{}, 'ok'],
      matrix: [1, [2]],
      seller: 'a string',
      people: [7, ann],
      named: { kind: 'Event' },
      all_named: [{ kind: 'Nobody' }, { error: new Error('no type') }, {}, ann],
      party: {},
      pet: {},
      event: new Error('an error instead'),
    },
  },
  'no event': { event: null },
  'an empty object': {},
  nothing: undefined,
};
