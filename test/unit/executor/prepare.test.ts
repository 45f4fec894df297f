import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildSchema, parse, validate } from 'graphql';
import { newExecutor, prepared, refused, SDL } from './small-executor.ts';

describe('prepare', () => {
  it('describes the operation', () => {
    const query =
      'subscription S($b: ID, $a: ID) { event(id: $a) { ...F } } fragment F on Event { event { id } } ';
    const { name, kind, variableNames, document } = prepared(
      newExecutor(),
      query.replace('$b: ID, $a: ID', '$a: ID'),
    );
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

  it('keeps as many documents as the cache holds, those used last', () => {
    const executor = newExecutor({ cacheSize: 2 });
    const queries = ['{ event { id } }', '{ event { title } }', '{ event { id title } }'] as const;
    const first = prepared(executor, queries[0]);
    const second = prepared(executor, queries[1]);
    assert.equal(prepared(executor, queries[0]), first);
    prepared(executor, queries[2]);
    assert.equal(prepared(executor, queries[0]), first);
    assert.notEqual(prepared(executor, queries[1]), second);
  });

  it('keeps no more characters than the cache may hold, and still prepares a longer document', () => {
    const executor = newExecutor({ cacheCharacters: 60 });
    const short = '{ event { id } }';
    const first = prepared(executor, short);
    const long = `{ event { ${'id '.repeat(30)} } }`;
    assert.notEqual(prepared(executor, long), prepared(executor, long));
    assert.equal(prepared(executor, short), first);
    for (let index = 0; index < 3; index++) prepared(executor, `query Number${index} { event { id } }`);
    assert.notEqual(prepared(executor, short), first);
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
    assert.equal(message(), 'Must provide operation name if query contains multiple operations.');
    assert.equal(message(null), 'Must provide operation name if query contains multiple operations.');
    assert.equal(message('C'), 'Unknown operation named "C".');
    assert.equal(message(''), 'Unknown operation named "".');
    assert.equal(refused(executor, '{ event { id } }', 'A')[0]?.message, 'Unknown operation named "A".');
  });

  it('refuses @skip and @include at the root of a subscription, in fragments too', () => {
    const executor = newExecutor();
    const documents = [
      'subscription ($x: Boolean!) { event @include(if: $x) { id } }',
      'subscription ($x: Boolean!) { event @skip(if: $x) { id } }',
      'subscription { event @include(if: true) { id } }',
      'subscription ($x: Boolean!) { ... @include(if: $x) { event { id } } }',
      'subscription ($x: Boolean!) { ...A } fragment A on Subscription { ...B @skip(if: $x) } fragment B on Subscription { event { id } }',
      'subscription ($x: Boolean!) { ...A } fragment A on Subscription { ... { event @skip(if: $x) { id } ...A } }',
      'query Q { event { id } } subscription S ($x: Boolean!) { event @include(if: $x) { id } }',
    ];
    for (const document of documents) {
      const [error] = refused(executor, document);
      assert.match(
        error?.message ?? '',
        /Expected the root field of a subscription without conditions, got @/,
      );
      assert.equal(error?.locations?.length, 1, document);
    }
  });

  it('takes @skip and @include below the root, and at the root of queries', () => {
    const executor = newExecutor();
    prepared(executor, 'subscription ($x: Boolean!) { event { id @include(if: $x) } }');
    prepared(executor, 'query ($x: Boolean!) { event @include(if: $x) { id } }');
  });
});
