import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  type GraphQLFieldConfigMap,
  type GraphQLResolveInfo,
} from 'graphql';
import {
  list,
  required,
  Status,
  Instant,
  Anything,
  Range,
  Named,
  Person,
  Company,
  Party,
  LateParty,
  Pet,
} from './zoo-types.ts';

/** A schema with one of everything in which graphql-js and compiled code could differ. */

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
    late_party: { type: LateParty },
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
        path: levels(info.path),
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

type Path = GraphQLResolveInfo['path'];

/** Each level of a path, the root first: key and typename. */
function levels(path: Path | undefined): [string | number, string | undefined][] {
  return path === undefined ? [] : [...levels(path.prev), [path.key, path.typename]];
}
