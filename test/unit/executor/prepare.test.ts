import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { buildSchema, parse, validate } from 'graphql';
import { newExecutor, prepared, refused, SDL } from './small-executor.ts';

/** What nothing but weak references hold is gone after this: they hold it until the end of the job that made them. */
async function collectGarbage(): Promise<void> {
  await setImmediate();
  globalThis.gc?.();
}

describe('prepare', () => {
  it('describes the operation', () => {
    const query = 'subscription S($a: ID) { event(id: $a) { ...F } } fragment F on Event { event { id } } ';
    const { name, kind, variableNames, document } = prepared(newExecutor(), query);
    assert.deepEqual([name, kind, variableNames, document.loc], ['S', 'subscription', ['a'], undefined]);
  });

  it('gives the same object for the same text and name, and other objects for others', () => {
    const executor = newExecutor();
    const query = 'subscription A { event { id } } subscription B { event { id } }';
    const a = prepared(executor, query, 'A');
    assert.equal(prepared(executor, [...query].join(''), 'A'), a);
    assert.equal(prepared(executor, [...query].join(''), 'A').query, a.query);
    assert.notEqual(prepared(executor, query, 'B'), a);
    const single = 'subscription C { event { id } }';
    assert.equal(prepared(executor, single), prepared(executor, single, 'C'));
  });

  it('keeps as many documents as the cache holds, those used last', async () => {
    const executor = newExecutor({ cacheSize: 2 });
    const queries = ['{ event { id } }', '{ event { title } }', '{ event { id title } }'] as const;
    const kept = queries.slice(0, 2).map((query) => new WeakRef(prepared(executor, query)));
    prepared(executor, queries[0]);
    prepared(executor, queries[2]);
    await collectGarbage();
    const isThere = kept.map((operation) => operation.deref() !== undefined);
    assert.deepEqual(isThere, [true, false]);
  });

  it('keeps no more characters than the cache may hold, and still prepares a longer document', async () => {
    const executor = newExecutor({ cacheCharacters: 60 });
    const short = new WeakRef(prepared(executor, '{ event { id } }'));
    const long = new WeakRef(prepared(executor, `{ event { ${'id '.repeat(30)} } }`));
    await collectGarbage();
    assert.equal(long.deref(), undefined);
    assert.notEqual(short.deref(), undefined);
    for (let index = 0; index < 3; index++) prepared(executor, `query Number${index} { event { id } }`);
    await collectGarbage();
    assert.equal(short.deref(), undefined);
  });

  it('gives the same operations for as long as one of a document is in use, though the cache has evicted it', async () => {
    const executor = newExecutor({ cacheSize: 1, cacheCharacters: 100 });
    const two = 'subscription A { event { id } } subscription B { event { title } }';
    const long = `subscription { event { ${'id '.repeat(60)} } }`;
    const a = prepared(executor, two, 'A');
    const inUse = prepared(executor, long);
    const b = new WeakRef(prepared(executor, two, 'B'));
    for (let index = 0; index < 3; index++) {
      prepared(executor, `query Number${index} { event { id } }`);
      await collectGarbage();
      assert.equal(prepared(executor, two, 'A'), a);
      assert.equal(prepared(executor, two, 'B'), b.deref());
      assert.equal(prepared(executor, long), inUse);
    }
  });

  it('keeps valid documents through any number of invalid ones', () => {
    const executor = newExecutor({ cacheSize: 2 });
    const good = prepared(executor, '{ event { id } }');
    for (let index = 0; index < 300; index++) refused(executor, `{ nonsense${index} }`);
    assert.equal(prepared(executor, '{ event { id } }'), good);
  });

  it('answers a repeated invalid document from its cache', () => {
    const executor = newExecutor();
    assert.equal(refused(executor, '{ nonsense }'), refused(executor, '{ nonsense }'));
  });

  it('says where a document is wrong, as graphql-js does, and does not keep the syntax tree', () => {
    const query = 'query Q($a: Int) {\n  nonsense\n  event { ...F }\n}\nfragment F on Query { event { id } }';
    const errors = refused(newExecutor(), query);
    const expected = validate(buildSchema(SDL), parse(query));
    assert.deepEqual(JSON.stringify(errors), JSON.stringify(expected));
    assert.ok(errors.every(({ locations, nodes }) => locations !== undefined && nodes === undefined));
  });

  it('says where a document does not parse', () => {
    const [error] = refused(newExecutor(), '{ event {\n id } ');
    assert.equal(error?.message, 'Syntax Error: Expected Name, found <EOF>.');
    assert.deepEqual(error?.locations, [{ line: 2, column: 7 }]);
  });

  it('picks the operation as graphql-js does', () => {
    const executor = newExecutor();
    const two = 'query A { event { id } } query B { event { id } }';
    assert.equal(prepared(executor, two, 'B').name, 'B');
    const message = (name?: string | null): string | undefined => refused(executor, two, name)[0]?.message;
    const expected = 'Must provide operation name if query contains multiple operations.';
    assert.deepEqual([message(), message(null)], [expected, expected]);
    assert.equal(message('C'), 'Unknown operation named "C".');
    assert.equal(message(''), 'Unknown operation named "".');
    assert.equal(refused(executor, '{ event { id } }', 'A')[0]?.message, 'Unknown operation named "A".');
  });

  it('refuses @skip and @include at the root of a subscription, in fragments too', () => {
    const executor = newExecutor();
    const documents = [
      'subscription ($x: Boolean!) { event @include(if: $x) { id } }',
      'subscription { event @include(if: true) { id } }',
      'subscription ($x: Boolean!) { ... @include(if: $x) { event { id } } }',
      'subscription ($x: Boolean!) { ...A } fragment A on Subscription { ...B @skip(if: $x) } fragment B on Subscription { event { id } }',
      'subscription ($x: Boolean!) { ...A } fragment A on Subscription { ... { event @skip(if: $x) { id } ...A } }',
      'query Q { event { id } } subscription S ($x: Boolean!) { event @include(if: $x) { id } }',
    ];
    const expected = /Expected the root field of a subscription without conditions, got @/;
    for (const document of documents) {
      const [error] = refused(executor, document);
      assert.match(error?.message ?? '', expected);
      assert.equal(error?.locations?.length, 1, document);
    }
  });

  it('takes @skip and @include below the root, and at the root of queries', () => {
    const executor = newExecutor();
    prepared(executor, 'subscription ($x: Boolean!) { event { id @include(if: $x) } }');
    prepared(executor, 'query ($x: Boolean!) { event @include(if: $x) { id } }');
  });
});
