import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  buildASTSchema,
  getIntrospectionQuery,
  parse,
  type FragmentDefinitionNode,
  type GraphQLError,
} from 'graphql';
import { CostCheck } from '../../../../src/executor/cost/cost-check.ts';
import { DEFAULT_COST_LIMITS } from '../../../../src/executor/cost/limits.ts';
import type { Executor } from '../../../../src/executor/executor.ts';
import { Operation } from '../../../../src/executor/operation.ts';
import { withGatewaySchema } from '../../../../src/graph/directives/definitions.ts';
import { executorFor, newExecutor, prepared, refused } from '../small-executor.ts';

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** Fragments of which each spreads the next one twice: 2 ** count fields. */
const doubling = (count: number): string =>
  `subscription { event { ...F0 } } ${times(count, (index) => `fragment F${index} on Event { a: event { ...F${index + 1} } b: event { ...F${index + 1} } }`)} fragment F${count} on Event { id }`;

const spread = (count: number): string =>
  `{ event { ${times(count, (index) => `e${index}: event { ...F }`)} } } fragment F on Event { id }`;

const pageOf = (index: number): string => `page(first: 1) { ...F${index} }`;

/** They share a fragment of three fields. */
const operations = (count: number): string =>
  `${times(count, (index) => `query O${index} { ...F }`)} fragment F on Query { event { id title } }`;

function limitOf(executor: Executor, query: string): unknown {
  const [error] = refused(executor, query);
  return error?.extensions;
}

describe('the limits of an operation', () => {
  it('count fields with fragments expanded', () => {
    const executor = newExecutor({ limits: { fields: 7 } });
    prepared(executor, spread(3));
    assert.deepEqual(limitOf(executor, spread(4)), { code: 'TOO_MANY_FIELDS', limit: 7, value: 9 });
  });

  it('count the fields of all operations of a document together', () => {
    const executor = newExecutor({ limits: { fields: 9 } });
    prepared(executor, operations(3), 'O0');
    assert.deepEqual(limitOf(executor, operations(4)), { code: 'TOO_MANY_FIELDS', limit: 9, value: 12 });
  });

  it('look at a fragment once for all operations of a document', () => {
    const document = parse(`query A { ...F } query B { ...F } fragment F on Query { a }`);
    const fragment = document.definitions.at(-1) as FragmentDefinitionNode;
    const { typeCondition } = fragment;
    let reads = 0;
    Object.defineProperty(fragment, 'typeCondition', { get: () => ((reads += 1), typeCondition) });
    new CostCheck(buildASTSchema(parse('type Query { a: Int }')), DEFAULT_COST_LIMITS).ofDocument(document);
    assert.equal(reads, 1);
  });

  it('count a document that expands to more fields than a number holds', () => {
    const value = Number.MAX_SAFE_INTEGER;
    assert.deepEqual(limitOf(newExecutor(), doubling(150)), { code: 'TOO_MANY_FIELDS', limit: 2_000, value });
  });

  it('are each an error with code, limit and value', () => {
    const limits = { depth: 2, aliases: 2, rootFields: 2, directives: 2, comparisons: 2, tokens: 50 };
    const executor = newExecutor({ limits });
    const skip = '@skip(if: true)';
    const skipped = `{ ...F ... ${skip} { event { id ${skip} } } } fragment F on Query { event ${skip} { id } }`;
    for (const [code, query] of [
      ['TOO_DEEP', '{ event { event { id } } }'],
      ['TOO_MANY_ALIASES', '{ event { a: id b: id c: id } }'],
      ['TOO_MANY_ROOT_FIELDS', '{ ...F } fragment F on Query { event { id } a: event { id } strict { id } }'],
      ['TOO_MANY_DIRECTIVES', skipped],
      ['TOO_MANY_COMPARISONS', '{ event { id id id } }'],
    ] as const) {
      assert.deepEqual(limitOf(executor, query), { code, limit: 2, value: 3 });
    }
    const tooLong = limitOf(executor, `{ event { ${'id '.repeat(50)} } }`);
    assert.deepEqual(tooLong, { code: 'TOO_MANY_TOKENS', limit: 50, value: 51 });
  });

  it('report each refused operation, those from the cache too', () => {
    const codes: string[] = [];
    const executor = newExecutor({ limits: { depth: 1 }, refused: (code) => codes.push(code) });
    refused(executor, '{ event { id } }');
    refused(executor, '{ event { id } }');
    refused(executor, '{ nothing }');
    assert.deepEqual(codes, ['TOO_DEEP', 'TOO_DEEP']);
  });

  it('let through what GraphiQL asks for', () => {
    const descriptions = { specifiedByUrl: true, schemaDescription: true };
    const introspection = { directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true };
    prepared(newExecutor(), getIntrospectionQuery({ ...descriptions, ...introspection }));
  });

  it('let through a page of a large application: eighty components that read the same objects', () => {
    const page = `{ event { ${times(80, (index) => `...Part${index}`)} } } ${times(80, (index) => `fragment Part${index} on Event { __typename id title event { id title } }`)}`;
    prepared(newExecutor({ limits: { tokens: 10_000 } }), page);
  });

  it('refuse introspection of several times the schema', () => {
    const query = `{ ${times(99, (index) => `a${index}: __schema { types { fields { name args { name } } interfaces { fields { name type { name } } } } }`)} }`;
    const [error] = refused(newExecutor(), query);
    assert.equal(error?.extensions['code'], 'TOO_MUCH_INTROSPECTION');
  });

  it('look at each fragment that a document has', () => {
    const overlap = `{ event { id } } fragment Unused on Event { ${times(300, (index) => `...F${index}`)} } ${times(300, (index) => `fragment F${index} on Event { id }`)}`;
    const errors = refused(newExecutor(), overlap);
    assert.match(String(errors[0]?.message), /Fragment "\w+" is never used/);
    assert.ok(errors.length <= 11, `expected at most 11 errors, got ${errors.length}`);
  });
});

describe('the cost of an operation', () => {
  const schema = buildASTSchema(
    withGatewaySchema(
      parse(`
        type Query {
          items(first: Int, last: Int, w: Int @cost(weight: "5")): [Item!] @listSize(slicingArguments: ["first", "last"])
          ten(first: Int = 10): [Item!] @listSize(slicingArguments: ["first"])
          all: [Item!] @listSize(assumedSize: 20)
          page(first: Int!): Page @listSize(slicingArguments: ["first"], sizedFields: ["nodes"])
          heavies: [Heavy!] @listSize(assumedSize: 3)
          gifts: [Gift!] @listSize(assumedSize: 3)
          names: [String!] @listSize(assumedSize: 3)
          tags(first: Int, w: Int @cost(weight: "5")): [String!] @listSize(slicingArguments: ["first"])
          connection(first: Int): Page @listSize(slicingArguments: ["first"], sizedFields: ["nodes"])
          unsized: [Item!]
          free: Item @cost(weight: "0")
          rebate: Item @cost(weight: "-10")
          heavy: Heavy
          node: Node
          any: Any
        }
        interface Node { id: ID! reports: [Item!] }
        type Light implements Node { id: ID! reports: [Item!] }
        type Org implements Node { id: ID! reports: [Item!] @listSize(assumedSize: 100) @cost(weight: "50") }
        union Any = Light | Heavy
        type Page { nodes: [Item!] other: [Item!] }
        type Item { id: ID! next: Item heavy: Heavy page(first: Int!): Page @listSize(slicingArguments: ["first"], sizedFields: ["nodes"]) slow: String @cost(weight: "3") }
        type Heavy @cost(weight: "7") { id: ID! }
        type Gift @cost(weight: "0") { id: ID! }
      `),
    ),
  );
  const errorOf = (query: string, variables: object, limits = {}): GraphQLError | undefined => {
    const found = executorFor(schema, { limits }).prepare(query, null, { ...variables });
    return found instanceof Operation ? undefined : (found as GraphQLError[])[0];
  };
  const messageOf = (query: string, variables = {}): string => String(errorOf(query, variables)?.message);
  /** @returns undefined if it is within the limit */
  const costOf = (query: string, variables = {}, cost = 0): unknown =>
    errorOf(query, variables, { cost })?.extensions['value'];

  it('is that of the specification for weights and lists', () => {
    assert.equal(costOf('{ items(first: 10) { next { id } } }'), 21);
    assert.equal(costOf('{ items(first: 10, w: 1) { slow } }'), 46);
    assert.equal(costOf('{ ten { next { id } } }'), 21);
    assert.equal(costOf('{ all { next { next { id } } } }'), 61);
    assert.equal(costOf('{ heavy { id } }'), 8);
    assert.equal(costOf('{ a: heavy { id } rebate { id } free { id } }'), 8);
  });

  it('counts each object of a list that has a size, by its type if that has a weight', () => {
    assert.equal(costOf('{ items(first: 1000000) { id } }'), 1_000_001);
    assert.equal(costOf('{ page(first: 5) { nodes { id } other { id } } }'), 8);
    assert.equal(costOf('{ heavies { id } }'), 22);
    assert.equal(costOf('{ gifts { id } }'), 1);
    assert.equal(costOf('{ names w: names x: heavy { id } }'), 8);
    assert.equal(costOf('{ unsized { id } }'), 1);
  });

  it('takes the size of lists below a field from the field', () => {
    assert.equal(costOf('{ page(first: 5) { nodes { next { id } } other { next { id } } } }'), 14);
    const pages = '{ a: page(first: 5) { ...Nodes } b: page(first: 50) { ...Nodes } }';
    assert.equal(costOf(`${pages} fragment Nodes on Page { nodes { next { id } } }`), 114);
  });

  it('counts a fragment below a list of one size once, however often it is spread', () => {
    const fragments = times(
      40,
      (index) => `fragment F${index} on Page { nodes { a: ${pageOf(index + 1)} b: ${pageOf(index + 1)} } }`,
    );
    const query = `{ ${pageOf(0)} } ${fragments} fragment F40 on Page { other { id } }`;
    const value = 5 * 2 ** 40 - 2;
    assert.deepEqual(limitOf(executorFor(schema), query), { code: 'TOO_MANY_FIELDS', limit: 2_000, value });
  });

  it('of what is asked of an interface or union is that of its heaviest type', () => {
    assert.equal(costOf('{ node { reports { next { id } } } }'), 251);
    assert.equal(costOf('{ node { ... on Light { reports { next { id } } } } }'), 3);
    assert.equal(costOf('{ any { ... on Light { id } } }'), 8);
  });

  it('is not less for a list of none', () => {
    assert.equal(costOf('{ items(first: -1) { heavy { id } } }'), 10);
  });

  it('counts list sizes in variables for each operation', () => {
    const query = 'query ($n: Int = 3) { items(first: $n) { next { id } } }';
    assert.equal(costOf(query, {}, 7), undefined);
    assert.equal(costOf(query, { n: 9 }, 7), 19);
    assert.equal(costOf(query, { n: 9 }, 19), undefined);
  });

  it('has no bound where a list is without the argument that it requires', () => {
    assert.equal(costOf('{ items { next { id } } }'), Number.MAX_SAFE_INTEGER);
    assert.equal(costOf('{ items(first: 10, w: 1) { id } }'), 16);
    assert.equal(costOf('{ tags(w: 1) }'), 5);
  });

  it('is refused with the field that has no bound and its arguments, where that is why', () => {
    const message =
      'items has no bound: expected a number for one of its arguments first, last, got none (@listSize, MAX_COST).';
    assert.equal(messageOf('{ items { id } }'), message);
    const twice = '{ a: items { id } ...F } fragment F on Query { items(last: 1) { id } }';
    assert.equal(messageOf(twice), message);
    const query = 'query ($n: Int) { items(first: $n) { id } }';
    assert.equal(errorOf(query, { n: 9 }), undefined);
    assert.equal(messageOf(query), message);
    const nodes = '{ connection { ...N } } fragment N on Page { nodes { id } }';
    assert.match(messageOf(nodes), /^connection has/);
    assert.equal(errorOf('{ connection { other { id } } }', {}), undefined);
    assert.match(messageOf(`{ items(first: ${'9'.repeat(400)}) { id } }`), /, got 9007199254740991\.$/);
  });
});
