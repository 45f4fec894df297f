import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseManifest } from '../../../src/executor/persisted-documents.ts';

const APOLLO = 'apollo-persisted-query-manifest';

const apollo = (operations: unknown, head: object = { format: APOLLO, version: 1 }): string =>
  JSON.stringify({ ...head, operations });

describe('parseManifest', () => {
  it('reads the manifest of Apollo', () => {
    const operations = [
      { id: 'a1', name: 'A', type: 'query', body: 'query A { a }' },
      { id: 'b2', name: 'B', type: 'subscription', body: 'subscription B { b }' },
    ];
    const expected = operations.map(({ id, body }) => [id, body]);
    assert.deepEqual([...parseManifest(apollo(operations))], expected);
  });

  it('reads the manifest of Relay, and any other object of ids and texts', () => {
    const relay = { '0c5a1ae5b3f8e6d1b0c9a4f2e7d8c6b5': 'query A { a }' };
    assert.deepEqual([...parseManifest(JSON.stringify(relay))], Object.entries(relay));
    const plain = { operations: '{ a }', format: '{ b }', 'my id': '{ c }' };
    assert.deepEqual([...parseManifest(JSON.stringify(plain))], Object.entries(plain));
  });

  it('takes names of the prototype for ids as all others', () => {
    const manifest = parseManifest('{"__proto__": "{ a }", "constructor": "{ b }"}');
    assert.equal(manifest.get('__proto__'), '{ a }');
    assert.equal(manifest.get('constructor'), '{ b }');
    assert.equal(manifest.get('toString'), undefined);
  });

  for (const [what, json, message] of [
    ['no JSON', '{', /JSON/],
    ['a list', '[]', /^expected an object of ids and texts, or the manifest of Apollo, got a list$/],
    ['no document', '{}', /^expected at least one document, got none$/],
    ['no document of Apollo', apollo([]), /^expected at least one document, got none$/],
    ['a text that is none', '{"a": 3}', /^a: expected the text of a document, got a value of type number$/],
    ['an empty id', '{"": "{ a }"}', /^expected an id for each document, got an empty one$/],
    [
      'another format',
      apollo([], { format: 'other', version: 1 }),
      /^expected the format "apollo-persisted-query-manifest", version 1, got "other", version 1$/,
    ],
    ['another version', apollo([], { format: APOLLO, version: 2 }), /version 1, got .*, version 2$/],
    [
      'an operation without id',
      apollo([{ body: '{ a }' }]),
      /^operations\[0\]: expected an object with an id/,
    ],
    ['an operation that is null', apollo([null]), /^operations\[0\]: .*got nothing$/],
    ['an operation without body', apollo([{ id: 'a' }]), /^a: expected the text of a document, got nothing$/],
    [
      'two texts for an id',
      apollo(['{ a }', '{ b }'].map((body) => ({ id: 'a', body }))),
      /^a: expected one text for the id, got two$/,
    ],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => parseManifest(json), { message }));
  }
});
