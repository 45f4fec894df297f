import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema } from 'graphql';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';
import { executorFor, prepared } from './small-executor.ts';

const RUNS = 30;

interface Input {
  tags: string[];
}

/** A subscription whose root takes a scalar that counts how often it is coerced, and an input object. */
function setUp() {
  const schema = buildSchema(
    'scalar Day input Input { tags: [String!]! } type Query { a: Int } type Subscription { day(on: Day, input: Input): Int }',
  );
  let count = 0;
  const seen: Input[] = [];
  attachResolvers(schema, {
    Day: { parseValue: (value: unknown) => (count++, value) },
    Subscription: {
      day: ((event: { n: number }, { input }: { input?: Input }) => {
        if (input !== undefined) {
          seen.push(structuredClone(input));
          input.tags.push('changed');
        }
        return event.n;
      }) as never,
    },
  });
  const executor = executorFor(schema);
  /** Has it run often. @returns how often a day was coerced, and the inputs of resolvers */
  const run = (variables: Record<string, unknown>, declared = '$input: Input') => {
    const query = `subscription ($on: Day, ${declared}) { day(on: $on, input: $input) }`;
    const operation = prepared(executor, query);
    [count, seen.length] = [0, 0];
    for (let n = 0; n < RUNS; n += 1) {
      const result = executor.execute(operation, { n }, {}, variables);
      assert.equal(JSON.stringify(result), `{"data":{"day":${n}}}`);
    }
    return { coerced: count, seen: seen.map((input) => ({ ...input })) };
  };
  return run;
}

const eachTime = (input: Input): Input[] => Array.from({ length: RUNS }, () => input);

test('immutable variables are coerced once for any number of events, others for each', () => {
  const run = setUp();
  for (const [variables, expected] of [
    [Object.freeze({ on: '2026-01-01' }), 0],
    [{ on: '2026-01-01' }, RUNS],
  ] as const) {
    // At first graphql-js runs it, which coerces each time.
    run(variables);
    assert.equal(run(variables).coerced, expected);
  }
});

test('two operations with the same variables each get them coerced by their own declarations', () => {
  const run = setUp();
  const variables = Object.freeze({ on: '2026-01-01' });
  run(variables);
  const { seen } = run(variables, '$input: Input = { tags: ["default"] }');
  assert.deepEqual(seen, eachTime({ tags: ['default'] }));
});

test('a resolver that writes to an object among its arguments does not change it for other events', () => {
  const { seen } = setUp()(Object.freeze({ input: { tags: ['given'] } }));
  assert.deepEqual(seen, eachTime({ tags: ['given'] }));
});
