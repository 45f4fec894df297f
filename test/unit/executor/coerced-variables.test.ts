import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema, GraphQLScalarType } from 'graphql';
import { Executor } from '../../../src/executor/executor.ts';
import { createLog } from '../../../src/log.ts';
import type { Operation } from '../../../src/executor/operation.ts';

const RUNS = 30;

interface Input {
  tags: string[];
}

/** A subscription whose root takes a scalar that counts how often it is coerced, and an input object. */
function setUp(): { executor: Executor; operation: Operation; coerced: () => number; seen: Input[] } {
  const schema = buildSchema(
    'scalar Day input Input { tags: [String!]! } type Query { a: Int } type Subscription { day(on: Day, input: Input): Int }',
  );
  let count = 0;
  const day = schema.getType('Day') as GraphQLScalarType;
  day.parseValue = (value) => {
    count += 1;
    return value;
  };
  const seen: Input[] = [];
  const field = schema.getSubscriptionType()?.getFields()['day'];
  assert.ok(field);
  field.resolve = (event: { n: number }, { input }: { input?: Input }) => {
    if (input !== undefined) {
      seen.push(structuredClone(input));
      input.tags.push('changed');
    }
    return event.n;
  };
  const executor = new Executor({ schema, cacheSize: 10, log: createLog('silent') });
  const operation = executor.prepare(
    'subscription ($on: Day, $input: Input) { day(on: $on, input: $input) }',
  );
  assert.ok('document' in operation);
  return { executor, operation, coerced: () => count, seen };
}

test('immutable variables are coerced once, for any number of events', () => {
  const { executor, operation, coerced } = setUp();
  const variables = Object.freeze({ on: '2026-01-01' });
  // At first graphql-js runs it, which coerces each time.
  for (let n = 0; n < RUNS; n += 1) executor.execute(operation, { n }, {}, variables);
  const before = coerced();
  for (let n = 0; n < RUNS; n += 1) {
    assert.deepEqual(executor.execute(operation, { n }, {}, variables), { data: { day: n } });
  }
  assert.equal(coerced(), before);
});

test('variables that hold objects are coerced for each execution', () => {
  const { executor, operation, coerced } = setUp();
  const variables = { on: '2026-01-01' };
  for (let n = 0; n < RUNS; n += 1) executor.execute(operation, { n }, {}, variables);
  const before = coerced();
  for (let n = 0; n < RUNS; n += 1) executor.execute(operation, { n }, {}, variables);
  assert.equal(coerced(), before + RUNS);
});

test('two operations with the same variables each get them coerced by their own declarations', () => {
  const { executor, operation, seen } = setUp();
  const other = executor.prepare(
    'subscription ($on: Day, $input: Input = { tags: ["default"] }) { day(on: $on, input: $input) }',
  );
  assert.ok('document' in other);
  const variables = Object.freeze({ on: '2026-01-01' });
  for (let n = 0; n < RUNS; n += 1) executor.execute(operation, { n }, {}, variables);
  const before = seen.length;
  for (let n = 0; n < RUNS; n += 1) executor.execute(other, { n }, {}, variables);
  assert.equal(seen.length, before + RUNS);
  for (const input of seen.slice(before)) assert.deepEqual({ ...input }, { tags: ['default'] });
});

test('a resolver that writes to an object among its arguments does not change it for other events', () => {
  const { executor, operation, seen } = setUp();
  const variables = Object.freeze({ input: { tags: ['given'] } });
  for (let n = 0; n < RUNS; n += 1) executor.execute(operation, { n }, {}, variables);
  assert.equal(seen.length, RUNS);
  for (const input of seen) assert.deepEqual({ ...input }, { tags: ['given'] });
});
