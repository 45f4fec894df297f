import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  GraphQLUnionType,
  Kind,
  valueFromASTUntyped,
} from 'graphql';

export const list = <T extends ConstructorParameters<typeof GraphQLList>[0]>(type: T): GraphQLList<T> =>
  new GraphQLList(type);
export const required = <T extends ConstructorParameters<typeof GraphQLNonNull>[0]>(
  type: T,
): GraphQLNonNull<T> => new GraphQLNonNull(type);

export const Status = new GraphQLEnumType({
  name: 'Status',
  values: { OPEN: { value: 1 }, SOLD: { value: Symbol.for('sold') }, GONE: { value: 'gone-inside' } },
});

export const Instant = new GraphQLScalarType<Date, string>({
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

export const Anything = new GraphQLScalarType({
  name: 'Anything',
  serialize: (value) => (value === 'nothing' ? null : value),
  parseValue: (value) => value,
  parseLiteral: valueFromASTUntyped,
});

export const Range: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'Range',
  fields: () => ({
    from: { type: GraphQLInt, defaultValue: 1 },
    to: { type: required(GraphQLInt) },
    statuses: { type: list(required(Status)), defaultValue: [Symbol.for('sold')] },
    at: { type: Instant },
    inner: { type: Range },
  }),
});

export const Named = new GraphQLInterfaceType({
  name: 'Named',
  fields: { name: { type: GraphQLString } },
  resolveType: (value: { kind?: string; error?: unknown }) => {
    if (value.error !== undefined) throw value.error;
    return value.kind;
  },
});

export const Person: GraphQLObjectType = new GraphQLObjectType({
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

export const Company = new GraphQLObjectType({
  name: 'Company',
  interfaces: [Named],
  fields: () => ({
    name: { type: GraphQLString, resolve: ({ name }: { name?: string }) => `${name} Ltd` },
    staff: { type: list(required(Person)) },
    founded: { type: Instant },
  }),
});

export const Party = new GraphQLUnionType({ name: 'Party', types: [Person, Company] });

export const LateParty = new GraphQLUnionType({
  name: 'LateParty',
  types: [Person, Company],
  resolveType: async ({ kind }: { kind?: string }) => {
    if (kind === undefined) throw new Error('no kind');
    return kind;
  },
});

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
export const Pet = new GraphQLUnionType({ name: 'Pet', types: [Cat, Dog] });
