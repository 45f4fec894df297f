import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema, GraphQLError } from 'graphql';
import { Executor } from '../../../src/executor/executor.ts';
import { Operation } from '../../../src/executor/operation.ts';
import { createLog } from '../../../src/log.ts';

const schema = buildSchema(`
  type Query { a: Int, b(n: Int = 3, list: [ID!]): String }
  type Subscription { item(id: [ID!], first: Int = 1): Item, other: Int }
  type Item { id: ID, n: Int! }
`);

function executor(
  limits: { cacheSize?: number; cacheCharacters?: number; maxCompiledFields?: number } = {},
): Executor {
  return new Executor({ schema, cacheSize: 10, log: createLog('silent'), ...limits });
}

function prepared(on: Executor, query: string, name?: string | null): Operation {
  const operation = on.prepare(query, name);
  assert.ok(operation instanceof Operation, JSON.stringify(operation));
  return operation;
}

function errorsOf(outcome: object): readonly GraphQLError[] {
  assert.ok(Array.isArray(outcome) && outcome.length > 0);
  assert.ok(outcome.every((error) => error instanceof GraphQLError));
  return outcome as GraphQLError[];
}

test('the same text and operation name give the same operation, for as long as it is cached', () => {
  const on = executor({ cacheSize: 2 });
  const first = prepared(on, '{ a }');
  assert.equal(prepared(on, '{ a }'), first);
  assert.notEqual(prepared(on, '{ a  }'), first);
  assert.equal(prepared(on, '{ a }'), first);
  prepared(on, '{ b }');
  prepared(on, '{ b  }');
  assert.notEqual(prepared(on, '{ a }'), first, 'the least recently used has left');
});

const padded = (n: number): string => `{ a } #${String(n).padEnd(33, 'x')}`;

test('the text of cached documents is bounded in total', () => {
  const on = executor({ cacheSize: 100, cacheCharacters: 100 });
  const first = prepared(on, padded(1));
  prepared(on, padded(2));
  assert.equal(prepared(on, padded(1)), first);
  prepared(on, padded(3));
  prepared(on, padded(4));
  assert.notEqual(prepared(on, padded(1)), first);
});

test('a document keeps no locations, and its errors have them', () => {
  const on = executor();
  const { document } = prepared(on, '{ a }');
  assert.equal(document.loc, undefined);
  assert.equal(document.definitions[0]?.loc, undefined);
  const [syntax] = errorsOf(on.prepare('{\n  a'));
  assert.deepEqual(syntax?.locations, [{ line: 2, column: 4 }]);
  const [validation] = errorsOf(on.prepare('{\n  nothing }'));
  assert.deepEqual(validation?.locations, [{ line: 2, column: 3 }]);
  assert.deepEqual(on.prepare('{\n  nothing }'), on.prepare('{\n  nothing }'));
});

test('a flood of faulty documents drives out no good one', () => {
  const on = executor();
  const good = prepared(on, '{ a }');
  for (let n = 0; n < 500; n += 1) errorsOf(on.prepare(`{ nothing${n} }`));
  assert.equal(prepared(on, '{ a }'), good);
});

test('the operation is picked by name, and must be named where there are several', () => {
  const on = executor();
  const two = 'query A { a } query B { b }';
  assert.equal(prepared(on, two, 'B').name, 'B');
  assert.match(errorsOf(on.prepare(two))[0]?.message ?? '', /operation name/);
  assert.match(errorsOf(on.prepare(two, 'C'))[0]?.message ?? '', /Unknown operation named "C"/);
  assert.match(errorsOf(on.prepare('fragment F on Query { a }')).join(), /F/);
  assert.equal(prepared(on, '{ a }', null).kind, 'query');
});

test("a subscription's root field is found through aliases and fragments, with its arguments coerced", () => {
  const on = executor();
  const field = (query: string, variables = {}): unknown =>
    on.subscriptionField(prepared(on, query), variables);
  assert.deepEqual(field('subscription { item { id } }'), { field: 'item', args: { first: 1 } });
  assert.deepEqual(field('subscription { x: item(id: 7) { id } }'), {
    field: 'item',
    args: { id: ['7'], first: 1 },
  });
  assert.deepEqual(
    field(
      'subscription ($id: [ID!], $n: Int = 2) { ...f } fragment f on Subscription { item(id: $id, first: $n) { id } }',
      {
        id: [1, 'b'],
      },
    ),
    { field: 'item', args: { id: ['1', 'b'], first: 2 } },
  );
  const needs = prepared(on, 'subscription ($id: [ID!]!) { item(id: $id) { id } }');
  assert.match(errorsOf(on.subscriptionField(needs, {}))[0]?.message ?? '', /\$id/);
  assert.match(errorsOf(on.subscriptionField(needs, { id: [{}] }))[0]?.message ?? '', /\$id/);
  assert.match(errorsOf(on.subscriptionField(prepared(on, '{ a }'), {}))[0]?.message ?? '', /subscription/i);
});

test('conditions at the root of a subscription are refused, also within fragments, and allowed below it', () => {
  const on = executor();
  for (const query of [
    'subscription ($x: Boolean!) { item @include(if: $x) { id } }',
    'subscription { item @skip(if: false) { id } }',
    'subscription ($x: Boolean!) { ... @include(if: $x) { item { id } } }',
    'subscription ($x: Boolean!) { ...f } fragment f on Subscription { item @skip(if: $x) { id } }',
  ]) {
    assert.match(errorsOf(on.prepare(query))[0]?.message ?? '', /without conditions/, query);
  }
  prepared(on, 'subscription ($x: Boolean!) { item { id @include(if: $x) } }');
});

test('an operation that runs often is compiled, and answers as before', () => {
  const on = executor();
  const operation = prepared(on, 'subscription { item { id n } }');
  const event = { item: { id: 1, n: 2 } };
  const results = Array.from({ length: 30 }, () => on.execute(operation, event, {}, {}));
  assert.ok(on.counts.compiled > 0);
  for (const result of results) {
    assert.equal(JSON.stringify(result), '{"data":{"item":{"id":"1","n":2}}}');
  }
});

test('compiled code is bounded, and what finds no room runs uncompiled', () => {
  const on = executor({ cacheSize: 100, maxCompiledFields: 4 });
  for (let n = 0; n < 20; n += 1) {
    const operation = prepared(on, `subscription S${n} { item { id n } }`);
    for (let run = 0; run < 15; run += 1) {
      assert.deepEqual(
        JSON.stringify(on.execute(operation, { item: { id: n, n } }, {}, {})),
        `{"data":{"item":{"id":"${n}","n":${n}}}}`,
      );
    }
  }
});
