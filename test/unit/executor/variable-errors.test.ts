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

/** What the executor says, and what graphql-js says. */
function errorsOf(text: string, variableValues: Record<string, unknown>, options = {}) {
  const executor = executorFor(schema, options);
  const name = text.includes(' Q(') ? 'Q' : undefined;
  const operation = prepared(executor, text, name);
  const document = parse(text);
  assert.deepEqual(validate(schema, document), []);
  const args = { schema, document, variableValues, ...(name !== undefined && { operationName: name }) };
  const expected = execute(args) as ExecutionResult;
  const errors =
    operation.kind === 'subscription'
      ? (executor.subscriptionField(operation, variableValues) as readonly GraphQLError[])
      : (executor.execute(operation, undefined, {}, variableValues) as ExecutionResult).errors;
  return { errors, got: json(errors), expected: json(expected.errors) };
}

describe('errors of variables', () => {
  for (const kind of ['query', 'subscription']) {
    it(`of a ${kind} are those of graphql-js, with their locations`, () => {
      for (const variables of WRONG) {
        const { errors, got, expected } = errorsOf(documentOf(kind, 'items'), variables);
        assert.ok(errors?.every(({ locations }) => locations?.length === 1));
        assert.deepEqual(got, expected);
      }
    });
  }

  it('of a mutation have their locations too, and none has the text of the document', () => {
    const { errors } = errorsOf('mutation ($range: Range!) { add(range: $range) }', {});
    assert.deepEqual(
      errors?.map(({ locations, nodes, source }) => [locations, nodes, source]),
      [[[{ line: 1, column: 11 }], undefined, undefined]],
    );
  });

  it('keep their locations where the schema is not to be guessed', () => {
    const variables = { first: 1, kind: 'LAMB' };
    const { got } = errorsOf(documentOf('query', 'items'), variables, { suggestions: false });
    assert.deepEqual(got, [
      {
        message: 'Variable "$kind" got invalid value "LAMB"; Value "LAMB" does not exist in "Kind" enum.',
        locations: [{ line: 5, column: 18 }],
      },
    ]);
  });

  it('are the first ten of those that graphql-js reports', () => {
    const names = Array.from({ length: 60 }, (_, index) => `v${index}`);
    const fields = names.map((name) => `${name}: items(first: $${name})`).join(' ');
    const { errors, got, expected } = errorsOf(
      `query (${names.map((name) => `$${name}: Int!`).join(' ')}) { ${fields} }`,
      {},
    );
    assert.equal(errors?.length, 11);
    const [last, ...first] = (got as object[]).toReversed();
    assert.deepEqual(first.toReversed(), (expected as object[]).slice(0, 10));
    assert.match(JSON.stringify(last), /Too many errors/);
  });
});
