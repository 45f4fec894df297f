import assert from 'node:assert/strict';
import test from 'node:test';
import { counted } from './counted.ts';

test('a set value is the one that is read, and the lazy one is never built', () => {
  const { o, built } = counted();
  const mine = {};
  o.a = mine;
  assert.equal(o.a, mine);
  o.b = mine;
  o.b = { again: true };
  assert.deepEqual({ ...o }, { a: mine, b: { again: true } });
  assert.deepEqual(built, []);
});

test('new keys come last, and a deleted key is gone', () => {
  const o: { a?: number; b?: number; c?: number } = Proxy.lazy({ a: 1, b: 2 });
  o.c = 3;
  delete o.a;
  assert.deepEqual(Object.keys(o), ['b', 'c']);
  assert.equal(o.a, undefined);
  assert.deepEqual({ ...o }, { b: 2, c: 3 });
});

test('an heir that is set has its own value, and the lazy object keeps the lazy one', () => {
  const { o, built } = counted();
  const heir = Object.create(o) as typeof o;
  const mine = {};
  heir.a = mine;
  assert.equal(heir.a, mine);
  assert.deepEqual(built, []);
  assert.deepEqual(o.a, { name: 'a' });
});

test('keys that a builder sets or deletes itself stay so', () => {
  interface Both {
    a?: number;
    b?: number;
  }
  const change = <T>(by: (all: Both) => void, value: T): T => {
    by(o);
    return value;
  };
  const o = Proxy.lazy<Both>({ a: change((all) => (all.a = 5), 1), b: change((all) => delete all.b, 2) });
  assert.deepEqual([o.a, o.a], [1, 5]);
  assert.deepEqual([o.b, o.b], [2, undefined]);
});

test('a description of a key does not show the marker', () => {
  const { o, built } = counted();
  const before = Object.getOwnPropertyDescriptor(o, 'a');
  assert.deepEqual(built, []);
  assert.deepEqual(before?.get?.call(undefined), { name: 'a' });
  assert.deepEqual(Object.getOwnPropertyDescriptor(o, 'a'), {
    value: o.a,
    writable: true,
    enumerable: true,
    configurable: true,
  });
});

test('a copy by descriptions stays lazy, shares what is built, and can be set alone', () => {
  const { o, built } = counted();
  const copy = Object.create(null, Object.getOwnPropertyDescriptors(o)) as typeof o;
  assert.deepEqual(built, []);
  assert.equal(copy.a, o.a);
  const mine = {};
  copy.b = mine;
  assert.equal(copy.b, mine);
  assert.deepEqual(o.b, { name: 'b' });
});

test('a redefined key is what it was redefined to', () => {
  const { o, built } = counted();
  Object.defineProperty(o, 'a', { value: 1, enumerable: false });
  assert.equal(o.a, 1);
  assert.deepEqual(Object.keys(o), ['b']);
  Object.defineProperty(o, 'b', { get: () => 2 });
  assert.equal(o.b, 2);
  assert.deepEqual(built, []);
});

test('a key that is made read-only is built before', () => {
  const { o } = counted();
  Object.defineProperty(o, 'a', { writable: false, configurable: false });
  assert.deepEqual(o.a, { name: 'a' });
  assert.throws(() => (o.a = {}), TypeError);
});

test('freezing builds all values, which can then be read but not changed', () => {
  for (const close of [Object.freeze, Object.seal, Object.preventExtensions]) {
    const { o, built } = counted();
    close(o);
    assert.deepEqual(built, ['a', 'b']);
    assert.deepEqual({ ...o }, { a: { name: 'a' }, b: { name: 'b' } });
    assert.ok(!Object.isExtensible(o));
  }
  const frozen = Object.freeze(counted().o);
  assert.ok(Object.isFrozen(frozen));
  assert.throws(() => ((frozen as { a: object }).a = {}), TypeError);
});

test('an object with a value that cannot be built cannot be frozen', () => {
  const o = Proxy.lazy({ a: JSON.parse('not json') as unknown });
  assert.throws(() => Object.freeze(o), SyntaxError);
  assert.ok(Object.isExtensible(o));
});
