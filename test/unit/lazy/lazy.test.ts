import assert from 'node:assert/strict';
import test from 'node:test';
import { lazy } from '../../../src/lazy/lazy.ts';

test('lazy works without Babel like Proxy.lazy: a value is built at its first read, once', () => {
  const built: string[] = [];
  const o = lazy({
    a: () => built.push('a'),
    b: () => `after ${built.push('b')}`,
  });
  assert.deepEqual(Object.keys(o), ['a', 'b']);
  assert.deepEqual(built, []);
  const b: string = o.b;
  assert.deepEqual([b, o.b, o.a, o.a], ['after 1', 'after 1', 2, 2]);
});

test('lazy takes symbols and __proto__ as keys, and leaves the given object as it was', () => {
  const symbol = Symbol('s');
  const builders = { [symbol]: () => 1, ['__proto__']: () => 2 };
  const o = lazy(builders);
  assert.deepEqual(Reflect.ownKeys(o), Reflect.ownKeys(builders));
  assert.equal(o[symbol], 1);
  assert.equal(Reflect.get(o, '__proto__'), 2);
  assert.equal(Object.getPrototypeOf(o), Object.prototype);
  assert.equal(typeof builders[symbol], 'function');
});

test('lazy refuses a value that is no function, and says which', () => {
  const wrong = { a: () => 1, b: 2 } as unknown as { a: () => number; b: () => number };
  assert.throws(() => lazy(wrong), {
    name: 'TypeError',
    message: 'Expected a function that builds b, got number',
  });
});
