import assert from 'node:assert/strict';
import test from 'node:test';
import { declaredVariables, variablesKey } from '../../../src/hub/group-key.ts';

const key = (variables: Record<string, unknown>): string => variablesKey(['a', 'b'], variables);

test('the order of keys, at any depth, and undeclared variables make no difference', () => {
  assert.equal(key({ a: { x: 1, y: [{ p: 1, q: 2 }] } }), key({ a: { y: [{ q: 2, p: 1 }], x: 1 } }));
  assert.equal(key({ b: 1, a: 2 }), key({ a: 2, b: 1, other: 3 }));
});

test('a value has the same text in sorted and in unsorted objects', () => {
  const expectInOrder = { '1': 'a “b”\n', p: [{ '': null, q: 0.1 }], x: { y: 1e21 } };
  const sorted = key({ a: expectInOrder });
  assert.equal(sorted, `a:${JSON.stringify(expectInOrder)},`);
  assert.equal(key({ a: { z: expectInOrder, b: 1 } }), key({ a: { b: 1, z: expectInOrder } }));
  assert.ok(key({ a: { z: expectInOrder, b: 1 } }).includes(JSON.stringify(expectInOrder)));
});

test('variables with keys that look like array indices, which objects keep in an order of their own, are told apart', () => {
  assert.equal(key({ a: { 9: 1, 10: 2 } }), 'a:{"10":2,"9":1},');
  assert.notEqual(key({ a: { 9: 1, 10: 2 } }), key({ a: { 9: 2, 10: 1 } }));
});

test('variables that differ as JSON, or of which one is absent, have different keys', () => {
  const different: Record<string, unknown>[] = [
    {},
    ...[null, 'null', 1, '1', true, '1,b:1', '1", "b":1'].map((a) => ({ a })),
    ...[[], [1], ['1'], [[1]], {}, { x: null }, { x: 1 }].map((a) => ({ a })),
    { b: 1 },
    { a: 1, b: 1 },
    ...[Infinity, -Infinity, 'Infinity', 0, -0].map((a) => ({ a })),
    ...[-0, 0].map((x) => ({ a: { x } })),
    ...[Infinity, null].map((x) => ({ a: { x, y: 1 } })),
    ...[null, -0, 0].map((item) => ({ a: [item] })),
  ];
  assert.equal(new Set(different.map(key)).size, different.length);
});

test('a variable called __proto__ is a variable like any other', () => {
  const variables = JSON.parse('{"__proto__": {"x": 1}, "c": 2}') as Record<string, unknown>;
  assert.notEqual(variablesKey(['__proto__'], variables), variablesKey(['__proto__'], {}));
  const declared = declaredVariables(['__proto__'], variables);
  assert.deepEqual(Object.keys(declared), ['__proto__']);
  assert.equal(Object.getPrototypeOf(declared), Object.prototype);
});
