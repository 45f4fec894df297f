import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema, execute, GraphQLError, parse, validate, type ExecutionResult } from 'graphql';
import { Executor } from '../../src/executor/executor.ts';
import { Operation } from '../../src/executor/operation.ts';
import { createLog } from '../../src/log.ts';

const schema = buildSchema(`
  type Query { a: A, n: Int }
  type A { a: A, list: [A!], n: Int }
  type Subscription { a(n: Int): A }
`);

const EVENT = { a: { n: 1, list: [{ n: 2 }], a: { n: 3 } } };

/** Often enough to be compiled on the way. */
const RUNS = 25;

const nested = (levels: number, open: string, close: string): string =>
  open.repeat(levels) + close.repeat(levels);

const HOSTILE: readonly string[] = [
  `{ ${nested(10_000, 'a {', '}')} }`,
  `{ ${nested(2_000, '... on Query {', '}')} }`,
  `query ($v: Int = ${nested(20_000, '[', ']')}) { n }`,
  `{ ${Array.from({ length: 900 }, (_, index) => `x${index}: n`).join(' ')} }`,
  `{ ${Array.from({ length: 20_000 }, (_, index) => `x${index}: n`).join(' ')} }`,
  'query { ...f } fragment f on Query { n ...g } fragment g on Query { n ...f }',
  'query { ...f } fragment f on Query { ...f }',
  'subscription ($x: Boolean!) { a @include(if: $x) { n } }',
  'subscription { ...f } fragment f on Subscription { ...f }',
  'subscription { __typename }',
  'subscription { __schema { description } }',
  'subscription { ...nothing }',
  '{ __proto__: n constructor: n toString: n hasOwnProperty: n }',
  'query __proto__ { n }',
  'query constructor { ...toString } fragment toString on Query { __proto__: n }',
  'query ($__proto__: Boolean = true, $constructor: Boolean = false) { n @include(if: $__proto__) x: n @skip(if: $constructor) }',
  '{ a @include(if: "true") { n } }',
  '{ n(x: 1) }',
  '{ a }',
  '\u0000',
  '{ n } \ud800',
  '"""',
  `{ n # ${'x'.repeat(60_000)}\n}`,
  // Fragments that double with each level.
  `query { ...f0 } ${Array.from({ length: 20 }, (_, n) => `fragment f${n} on Query { a { n } ...f${n + 1} ...f${n + 1} }`).join(' ')} fragment f20 on Query { n }`,
  `query { a { ...f0 } } ${Array.from({ length: 12 }, (_, n) => `fragment f${n} on A { p: a { ...f${n + 1} } q: a { ...f${n + 1} } }`).join(' ')} fragment f12 on A { n }`,
];

const VARIABLES = [{}, JSON.parse('{"__proto__": {"x": 1}, "constructor": null}') as Record<string, unknown>];

const text = (result: unknown): string => JSON.stringify(result);

/** What graphql-js says, by the book; undefined where it throws itself or finds the document invalid. */
function reference(query: string, variableValues: Record<string, unknown>): ExecutionResult | undefined {
  try {
    const document = parse(query, { noLocation: true });
    if (validate(schema, document).length > 0) return undefined;
    return execute({
      schema,
      document,
      rootValue: EVENT,
      contextValue: {},
      variableValues,
    }) as ExecutionResult;
  } catch {
    return undefined;
  }
}

for (const [index, query] of HOSTILE.entries()) {
  test(`hostile document ${index} ends in errors or in what graphql-js says: ${query.slice(0, 40)}`, () => {
    const executor = new Executor({ schema, cacheSize: 10, log: createLog('silent') });
    const outcome = executor.prepare(query);
    if (!(outcome instanceof Operation)) {
      assert.ok(outcome.length > 0 && outcome.every((error) => error instanceof GraphQLError));
    } else {
      for (const variables of VARIABLES) {
        const expected = reference(query, variables);
        executor.subscriptionField(outcome, variables);
        for (let run = 0; run < RUNS; run += 1) {
          assert.equal(text(executor.execute(outcome, EVENT, {}, variables)), text(expected));
        }
      }
    }
    const good = executor.prepare('{ n a { list { n } } }');
    assert.ok(good instanceof Operation);
    assert.equal(
      text(executor.execute(good, { ...EVENT, n: 9 }, {}, {})),
      '{"data":{"n":9,"a":{"list":[{"n":2}]}}}',
    );
    assert.equal(({} as { x?: number }).x, undefined);
  });
}
