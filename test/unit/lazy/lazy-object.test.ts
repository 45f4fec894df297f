import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { LATER, lazyObject } from '../../../src/lazy/lazy.ts';
import { Living } from '../../helpers/living.ts';
import { counted } from './counted.ts';

test('a value is built when it is first read, and the same ever after', () => {
  const { o, built } = counted();
  assert.deepEqual(built, []);
  const { b } = o;
  assert.deepEqual(built, ['b']);
  assert.equal(o.b, b);
  assert.deepEqual(built, ['b']);
});

test('undefined and null are values that are kept too', () => {
  let builds = 0;
  const count = <T>(value: T): T => {
    builds += 1;
    return value;
  };
  const o = Proxy.lazy({ nothing: count(undefined), empty: count(null) });
  assert.deepEqual([o.nothing, o.nothing, o.empty, o.empty], [undefined, undefined, null, null]);
  assert.equal(builds, 2);
});

test('promises are values like others, rejected ones too', async () => {
  let builds = 0;
  const fail = async (): Promise<never> => {
    builds += 1;
    throw new Error('late');
  };
  const o = Proxy.lazy({ promise: fail() });
  const first = o.promise;
  await assert.rejects(first, { message: 'late' });
  assert.equal(o.promise, first);
  assert.equal(builds, 1);
});

test('keys are enumerated in the order of an object literal, and nothing is built', () => {
  const built: unknown[] = [];
  const note = (value: unknown): unknown => built.push(value);
  const symbol = Symbol('s');
  const o = Proxy.lazy({ b: note(1), a: note(2), 7: note(3), 3: note(4), [symbol]: note(5) });
  assert.deepEqual(Object.keys(o), ['3', '7', 'b', 'a']);
  assert.deepEqual(Reflect.ownKeys(o), ['3', '7', 'b', 'a', symbol]);
  const seen: string[] = [];
  for (const key in o) seen.push(key);
  assert.deepEqual(seen, ['3', '7', 'b', 'a']);
  assert.ok('a' in o && Object.hasOwn(o, 'b') && !('c' in o) && !Object.hasOwn(o, 'toString'));
  assert.ok(Object.prototype.propertyIsEnumerable.call(o, 'a'));
  assert.deepEqual(built, []);
});

test('console.log shows what is built, and builds nothing', () => {
  const { o, built } = counted();
  assert.equal(inspect(o), '{ a: Symbol(later), b: Symbol(later) }');
  assert.deepEqual(built, []);
});

test('spread, Object.values, Object.entries, Object.assign and JSON.stringify build everything', () => {
  const expected = { a: { name: 'a' }, b: { name: 'b' } };
  assert.deepEqual({ ...counted().o }, expected);
  assert.deepEqual(Object.values(counted().o), Object.values(expected));
  assert.deepEqual(Object.entries(counted().o), Object.entries(expected));
  assert.deepEqual(Object.assign({}, counted().o), expected);
  assert.equal(JSON.stringify(counted().o), JSON.stringify(expected));
  assert.deepEqual(counted().o, expected);
});

test('destructuring builds what it names, and its rest the rest', () => {
  const { o, built } = counted();
  const { a, ...rest } = o;
  assert.deepEqual([a, rest], [{ name: 'a' }, { b: { name: 'b' } }]);
  assert.deepEqual(built, ['a', 'b']);
});

test('a value that is read through an heir is built once, and kept by the lazy object', () => {
  const { o, built } = counted();
  const heir = Object.create(o) as typeof o;
  assert.equal(heir.a, o.a);
  assert.deepEqual(Object.keys(heir), []);
  assert.equal(Reflect.get(o, 'b', {}), o.b);
  assert.deepEqual(built, ['a', 'b']);
});

test('a value that fails to be built is built again by the next read', () => {
  let tries = 0;
  const flaky = (): number => {
    tries += 1;
    if (tries < 3) throw new RangeError(`try ${tries}`);
    return tries;
  };
  const o = Proxy.lazy({ value: flaky(), other: 1 });
  assert.throws(() => o.value, new RangeError('try 1'));
  assert.throws(() => JSON.stringify(o), new RangeError('try 2'));
  assert.equal(o.value, 3);
  assert.equal(o.value, 3);
});

const circle = (chain: string): object => ({
  name: 'ReferenceError',
  message: `Expected lazy values that can be built one after another, got a circle: ${chain}`,
});

interface Circle {
  readonly a: unknown;
  readonly b: unknown;
  readonly free: number;
  readonly itself: unknown;
}

test('values that need each other fail with an error that names the circle, also through another object', () => {
  const self = (): Circle => o;
  const other = Proxy.lazy({ inner: [self().b] });
  const o = Proxy.lazy<Circle>({ a: self().b, b: other.inner, free: 1, itself: self().itself });
  assert.throws(() => o.a, circle('b → inner → b'));
  assert.throws(() => other.inner, circle('inner → b → inner'));
  assert.throws(() => o.itself, circle('itself → itself'));
  assert.equal(o.free, 1);
});

test('the same key of two objects is no circle', () => {
  const first = Proxy.lazy({ a: 1 });
  assert.equal(Proxy.lazy({ a: first.a + 1 }).a, 2);
});

test('after an error no value counts as being built any more', () => {
  const state = { fails: true };
  const self = (): { a: number; b: number } => o;
  const o = Proxy.lazy({ a: self().b + 1, b: fail() });
  function fail(): number {
    if (state.fails) throw new Error('not yet');
    return 1;
  }
  assert.throws(() => o.a, { message: 'not yet' });
  state.fails = false;
  assert.equal(o.a, 2);
});

test('methods and accessors belong to the lazy object, and an accessor runs at each read', () => {
  let reads = 0;
  const symbol = Symbol('described');
  const o = Proxy.lazy({
    base: 1,
    method() {
      return this.base;
    },
    get next() {
      reads += 1;
      return this.base + reads;
    },
    set next(value: number) {
      this.base = value;
    },
    [symbol]: () => {},
  });
  assert.equal(o.method(), 1);
  assert.equal(o.method, o.method);
  assert.throws(() => Reflect.construct(o.method, []), TypeError, 'a method is no constructor');
  assert.deepEqual([o.next, o.next], [2, 3]);
  o.next = 10;
  assert.deepEqual([o.base, o.method()], [10, 10]);
  assert.equal(o[symbol].name, '[described]');
});

test('instanceof, prototype and type are those of an object literal', () => {
  const o = Proxy.lazy({ a: 1 });
  assert.equal(Object.getPrototypeOf(o), Object.prototype);
  assert.ok(o instanceof Object);
  assert.equal(typeof o, 'object');
  assert.equal(String(o), '[object Object]');
});

test('a lazy object can be awaited as any object without then', async () => {
  const { o, built } = counted();
  assert.equal(await Promise.resolve(o), o);
  assert.deepEqual(built, []);
});

/** An object with two lazy values, and its builder, which nothing else holds. */
function withBuilder(): [{ a: unknown; b: unknown }, Living] {
  const build = counted.bind(undefined);
  const builder = new Living();
  builder.add(build);
  return [lazyObject<{ a: unknown; b: unknown }>({ a: LATER, b: LATER }, build, 2), builder];
}

test('when the last value is built, the builder and what it refers to may be collected', async () => {
  const [o, builder] = withBuilder();
  assert.ok(o.a);
  assert.equal(await builder.count(), 1);
  assert.ok(o.b);
  assert.equal(await builder.count(), 0);
  assert.equal(o.a, o.a);
});
