import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildSchema, execute, parse, validate, type ExecutionResult, type GraphQLError } from 'graphql';
import { executorFor, prepared } from './small-executor.ts';

const SDL = `
  input Range { from: Int! to: Int }
  enum Kind { LAMP CHAIR }
  type Query { items(range: Range, kind: Kind, first: Int!): Int, fails: Int }
  type Mutation { add(range: Range!): Int }
  type Subscription { items(range: Range, kind: Kind, first: Int): Int }
`;
const schema = buildSchema(SDL);

/** Documents of several operations, so that the right one must be found. */
const documentOf = (
  kind: string,
  field: string,
): string => `query Other($range: Int!) { items(first: $range) }
# ä
${kind} Q(
  $first: Int!,
  $range: Range, $kind: Kind
) { ${field}(range: $range, kind: $kind, first: $first) }`;

const WRONG: readonly Record<string, unknown>[] = [
  {},
  { first: 'one' },
  { first: 1, range: { from: 1, two: 2 } },
  { first: null, range: [], kind: 'LAMB' },
  { first: 1, range: { from: {}, to: [] }, kind: 3 },
];

const json = (errors: readonly GraphQLError[] | undefined): unknown => JSON.parse(JSON.stringify(errors));

describe('errors of variables', () => {
  for (const kind of ['query', 'subscription']) {
    it(`of a ${kind} are those of graphql-js, with their locations`, () => {
      const text = documentOf(kind, 'items');
      assert.deepEqual(validate(schema, parse(text)), []);
      const executor = executorFor(schema);
      const operation = prepared(executor, text, 'Q');
      for (const variableValues of WRONG) {
        const expected = execute({
          schema,
          document: parse(text),
          operationName: 'Q',
          variableValues,
        }) as ExecutionResult;
        const got =
          kind === 'query'
            ? (executor.execute(operation, undefined, {}, variableValues) as ExecutionResult).errors
            : (executor.subscriptionField(operation, variableValues) as readonly GraphQLError[]);
        assert.ok(expected.errors?.every(({ locations }) => locations?.length === 1));
        assert.deepEqual(json(got), json(expected.errors));
      }
    });
  }

  it('of a mutation have their locations too, and none has the text of the document', () => {
    const executor = executorFor(schema);
    const operation = prepared(executor, 'mutation ($range: Range!) { add(range: $range) }');
    const { errors } = executor.execute(operation, undefined, {}, {}) as ExecutionResult;
    assert.deepEqual(
      errors?.map(({ locations }) => locations),
      [[{ line: 1, column: 11 }]],
    );
    assert.deepEqual(
      errors?.map(({ nodes, source }) => [nodes, source]),
      [[undefined, undefined]],
    );
  });

  it('keep their locations where the schema is not to be guessed', () => {
    const executor = executorFor(schema, { suggestions: false });
    const operation = prepared(executor, documentOf('query', 'items'), 'Q');
    const { errors } = executor.execute(
      operation,
      undefined,
      {},
      { first: 1, kind: 'LAMB' },
    ) as ExecutionResult;
    assert.deepEqual(json(errors), [
      {
        message: 'Variable "$kind" got invalid value "LAMB"; Value "LAMB" does not exist in "Kind" enum.',
        locations: [{ line: 5, column: 18 }],
      },
    ]);
  });

  it('are as many as graphql-js reports', () => {
    const executor = executorFor(schema);
    const names = Array.from({ length: 60 }, (_, index) => `$v${index}`);
    const text = `query (${names.map((name) => `${name}: Int!`).join(' ')}) { ${names.map((name, index) => `a${index}: items(first: ${name})`).join(' ')} }`;
    const expected = execute({ schema, document: parse(text), variableValues: {} }) as ExecutionResult;
    const got = executor.execute(prepared(executor, text), undefined, {}, {}) as ExecutionResult;
    assert.equal(got.errors?.length, 51);
    assert.deepEqual(json(got.errors), json(expected.errors));
  });
});
