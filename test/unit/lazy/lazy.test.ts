import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema } from 'graphql';
import { Executor } from '../../../src/executor/executor.ts';
import { Operation } from '../../../src/executor/operation.ts';
import { lazy } from '../../../src/lazy/lazy.ts';
import { createLog } from '../../../src/log.ts';

interface Made {
  a: number;
  b: number;
}

/** Both ways of making one; they must not differ. */
function* both(log: string[]): Generator<Made> {
  const make = (name: string, value: number): number => {
    log.push(name);
    return value;
  };
  yield Proxy.lazy<Made>({ a: make('a', 1), b: make('b', 2) });
  yield lazy<Made>({ a: () => make('a', 1), b: () => make('b', 2) });
}

const each = (title: string, check: (made: Made, log: string[]) => void): void => {
  test(title, () => {
    const log: string[] = [];
    for (const made of both(log)) {
      check(made, log);
      log.length = 0;
    }
  });
};

each('a value is built when it is first read, and kept', (made, log) => {
  assert.deepEqual(log, []);
  assert.equal(made.b + made.b, 4);
  assert.deepEqual(log, ['b']);
});

each('keys are there in order, without anything being built', (made, log) => {
  assert.deepEqual(Object.keys(made), ['a', 'b']);
  assert.ok('a' in made && Object.hasOwn(made, 'b') && !('c' in made));
  assert.equal((made as unknown as { c: unknown }).c, undefined);
  const names = [];
  for (const name in made) names.push(name);
  assert.deepEqual(names, ['a', 'b']);
  assert.deepEqual(log, []);
});

each('spread, entries and JSON build all', (made, log) => {
  assert.deepEqual({ ...made }, { a: 1, b: 2 });
  assert.deepEqual(Object.entries(made), [
    ['a', 1],
    ['b', 2],
  ]);
  assert.equal(JSON.stringify(made), '{"a":1,"b":2}');
  assert.deepEqual(log, ['a', 'b']);
});

each('what is set is there, and what it replaces is never built', (made, log) => {
  made.a = 10;
  Object.defineProperty(made, 'b', { value: 20, enumerable: true });
  assert.deepEqual({ ...made }, { a: 10, b: 20 });
  made.a = 11;
  assert.equal(made.a, 11);
  assert.deepEqual(log, []);
});

each('what is deleted is gone', (made, log) => {
  assert.ok(delete (made as Partial<Made>).a);
  assert.deepEqual(Object.keys(made), ['b']);
  assert.equal(made.a, undefined);
  assert.deepEqual(log, []);
});

each('freezing builds first, so that reading goes on', (made, log) => {
  Object.freeze(made);
  assert.deepEqual(log, ['a', 'b']);
  assert.deepEqual({ ...made }, { a: 1, b: 2 });
  assert.throws(() => (made.a = 5), TypeError);
});

each('a property that is redefined in part keeps its value', (made) => {
  Object.defineProperty(made, 'a', { enumerable: false });
  assert.deepEqual(Object.keys(made), ['b']);
  assert.equal(made.a, 1);
});

each('an object that inherits reads through, and is written to itself', (made, log) => {
  const heir = Object.create(made) as Made;
  heir.b = 5;
  assert.equal(heir.a, 1);
  assert.equal(made.b, 2);
  assert.equal(heir.b, 5);
  assert.deepEqual(log, ['a', 'b']);
});

each('nobody sees what stands for a value that is not built', (made) => {
  const descriptor = Object.getOwnPropertyDescriptor(made, 'a');
  assert.equal(descriptor?.get?.(), 1);
  assert.equal(Object.getOwnPropertyDescriptor(made, 'a')?.value, 1);
  assert.deepEqual(Reflect.ownKeys(made), ['a', 'b']);
});

test('an error goes to the reader, and the next read tries again', () => {
  let tries = 0;
  const made = lazy<{ a: number }>({
    a: () => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      return tries;
    },
  });
  assert.throws(() => made.a, /not yet/);
  assert.equal(made.a, 2);
  assert.equal(made.a, 2);
});

test('values that need each other fail with the way around', () => {
  const made: { a: number; b: number; c: number } = lazy({
    a: () => made.b,
    b: () => made.c,
    c: () => made.b,
  });
  assert.throws(() => made.a, { message: 'a lazy value needs itself: b → c → b' });
  assert.throws(() => made.c, { message: 'a lazy value needs itself: c → b → c' });
});

test('a builder that sets its own key has the last word', () => {
  const made: { a: number } = lazy({
    a: () => {
      made.a = 5;
      return 6;
    },
  });
  assert.equal(made.a, 5);
  assert.equal(made.a, 5);
});

const schema = buildSchema(`
  type Query { thing: Thing, later: Thing }
  type Thing { good: Int, bad: Int, nested: Thing }
`);

const thing = (): object =>
  lazy<Record<string, unknown>>({
    good: () => 1,
    bad: () => {
      throw new Error('could not be built');
    },
    nested: () => lazy({ good: () => 2, bad: () => Promise.reject(new Error('nor this')) }),
  });

for (const field of ['thing', 'later']) {
  test(`a lazy value that throws is a field error, and the result is settled, compiled or not: ${field}`, async () => {
    const rootValue = { thing: thing, later: async () => thing() };
    const executor = new Executor({ schema, cacheSize: 10, log: createLog('silent') });
    const operation = executor.prepare(`{ ${field} { good bad nested { good bad } } }`);
    assert.ok(operation instanceof Operation);
    for (let run = 0; run < 25; run += 1) {
      const result = await executor.execute(operation, rootValue, {}, {});
      assert.equal(
        JSON.stringify(result.data),
        JSON.stringify({ [field]: { good: 1, bad: null, nested: { good: 2, bad: null } } }),
      );
      assert.deepEqual(result.errors?.map(({ message, path }) => [message, path?.join('.')]).toSorted(), [
        ['could not be built', `${field}.bad`],
        ['nor this', `${field}.nested.bad`],
      ]);
    }
  });
}
