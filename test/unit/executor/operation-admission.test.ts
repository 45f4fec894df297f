import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buildSchema, GraphQLError } from 'graphql';
import { describe, it } from 'node:test';
import {
  OperationAdmission,
  type Introspection,
  type OperationRequest,
} from '../../../src/executor/operation-admission.ts';
import { Executor } from '../../../src/executor/executor.ts';
import { PersistedDocuments } from '../../../src/executor/persisted-documents.ts';
import type { Json } from '../../../src/lazy/reads.ts';
import { createLog } from '../../../src/log.ts';

const schema = buildSchema(`
  type Query { house(where: Where, color: Color): String }
  type Subscription { bid(where: Where): String }
  input Where { secret_number: Int }
  enum Color { VERMILION }
`);
const QUERY = 'query House { house }';
const BID = 'subscription Bid { bid }';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const apollo = (sha256Hash: unknown): OperationRequest => ({
  extensions: { persistedQuery: { version: 1, sha256Hash } },
});

const newExecutor = (suggestions = true): Executor =>
  new Executor({ schema, cacheSize: 10, suggestions, log: createLog('silent') });

function admission({ persistedOnly = false, manifest = { one: QUERY, two: BID } as object | null } = {}) {
  const executor = newExecutor();
  const persisted =
    manifest === null
      ? undefined
      : PersistedDocuments.load('m.json', JSON.stringify(manifest), (text) => executor.check(text));
  return new OperationAdmission({ executor, persisted, persistedOnly });
}

const codeOf = (answer: object): unknown => {
  assert.ok(Array.isArray(answer) && answer.length === 1, JSON.stringify(answer));
  const [error] = answer as [GraphQLError];
  return error.extensions['code'];
};

const outcome = (introspection: Introspection, query: string, viewer: Json): object =>
  new OperationAdmission({ executor: newExecutor(), introspection }).prepare({ query }, viewer);

const messageOf = (errors: unknown): string => (errors as readonly GraphQLError[])[0]?.message ?? '';

describe('ids of persisted documents', () => {
  it('give the same operation as their text, so that subscriptions share a group', () => {
    const door = admission();
    const byText = door.prepare({ query: BID }, {});
    assert.equal('document' in byText, true);
    const ids = [{ documentId: 'two' }, { documentId: `sha256:${sha256(BID)}` }];
    const texts = [null, ''].map((query) => ({ documentId: 'two', query }));
    for (const request of [...ids, ...texts, apollo('two'), apollo(sha256(BID))]) {
      assert.equal(door.prepare(request, {}), byText, JSON.stringify(request));
    }
  });

  it('count more than a text beside them, which some clients print in another way', () => {
    const door = admission({ persistedOnly: true });
    const operation = door.prepare({ documentId: 'one', query: '{ other }' }, {});
    assert.equal('query' in operation && operation.query, QUERY);
  });

  it('may carry the name of one of several operations', () => {
    const door = admission({ manifest: { both: 'query A { house } query B { house }' } });
    const named = door.prepare({ documentId: 'both', operationName: 'B' }, {});
    assert.equal('name' in named && named.name, 'B');
    assert.match(JSON.stringify(door.prepare({ documentId: 'both' }, {})), /Must provide operation name/);
  });

  it('that are unknown are answered as Apollo Client expects, which then sends the text', () => {
    const door = admission();
    for (const unknown of [apollo('nope'), { documentId: 'nope' }, { documentId: '__proto__' }]) {
      const answer = door.prepare(unknown, {});
      assert.equal(codeOf(answer), 'PERSISTED_QUERY_NOT_FOUND');
      assert.equal((answer as readonly GraphQLError[])[0]?.message, 'PersistedQueryNotFound');
    }
    assert.equal('document' in door.prepare({ ...apollo('nope'), query: '{ house }' }, {}), true);
    assert.equal(codeOf(door.prepare(apollo('nope'), {})), 'PERSISTED_QUERY_NOT_FOUND', 'none is registered');
  });

  it('are not supported without a manifest, and a text beside them is executed', () => {
    const door = admission({ manifest: null });
    assert.equal(codeOf(door.prepare(apollo('x'), {})), 'PERSISTED_QUERY_NOT_SUPPORTED');
    assert.equal('document' in door.prepare({ ...apollo('x'), query: '{ house }' }, {}), true);
  });

  for (const [what, request] of [
    ['a documentId that is no text', { documentId: 3, query: '{ house }' }],
    [
      'a documentId of any depth',
      { documentId: JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)) as unknown },
    ],
    ['a hash that is no text', apollo(3)],
    ['a hash of another version', { extensions: { persistedQuery: { version: 2, sha256Hash: 'one' } } }],
    ['a persistedQuery that is no object', { extensions: { persistedQuery: 'one' }, query: '{ house }' }],
  ] as const) {
    it(`of a wrong form are refused: ${what}`, () => {
      const [error] = admission().prepare(request, {}) as readonly GraphQLError[];
      assert.equal(error?.extensions['code'], 'BAD_REQUEST');
      assert.match(error?.message ?? '', /^expected .*, got .{0,30}$/);
    });
  }
});

describe('with persisted documents only', () => {
  const door = admission({ persistedOnly: true });

  it('texts are refused, unparsed', () => {
    for (const query of ['{ house }', '{ not GraphQL', QUERY]) {
      assert.equal(codeOf(door.prepare({ query }, {})), 'PERSISTED_QUERY_ID_REQUIRED', query);
    }
  });

  it('a text with an unknown id is refused, and one whose hash is known is executed', () => {
    const unknown = door.prepare({ ...apollo(sha256('{ house }')), query: '{ house }' }, {});
    assert.equal(codeOf(unknown), 'PERSISTED_QUERY_NOT_FOUND');
    assert.equal('document' in door.prepare({ ...apollo(sha256(QUERY)), query: QUERY }, {}), true);
  });
});

const load = (manifest: object) => (): unknown =>
  PersistedDocuments.load('m.json', JSON.stringify(manifest), (text) => newExecutor().check(text));

describe('a manifest that does not fit the graph', () => {
  it('stops the start with the id, the place and the reason of each fault', () => {
    const manifest = {
      good: QUERY,
      old: 'query Old { house\n  garden }',
      broken: '{ house',
      empty: 'fragment F on Query { house }',
    };
    assert.throws(load(manifest), {
      code: 'BAD_SETTINGS',
      message: [
        'PERSISTED_DOCUMENTS: expected documents that are valid for this graph in m.json, got:',
        '  old: 2:3: Cannot query field "garden" on type "Query".',
        '  broken: 1:8: Syntax Error: Expected Name, found <EOF>.',
        '  empty: 1:1: Fragment "F" is never used.',
      ].join('\n'),
    });
  });

  it('is told with 20 faults, and the number of the others', () => {
    const manifest = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`id${index}`, '{ no }']));
    assert.throws(load(manifest), ({ message }: Error) => {
      return message.split('\n').length === 22 && message.endsWith('\n  and 13 more');
    });
  });

  it('stops the start if it is none', () => {
    assert.throws(load([]), {
      message:
        'PERSISTED_DOCUMENTS: expected a manifest of documents in m.json: expected an object of ids and texts, or the manifest of Apollo, got a list',
    });
  });
});

describe('introspection', () => {
  const READS = [
    '{ __schema { types { name } } }',
    '{ a: __type(name: "Where") { name } }',
    'query { ... on Query { ...F } } fragment F on Query { __schema { description } }',
  ];

  it('is open to all, to none, or to viewers of whom something is known', () => {
    for (const query of READS) {
      assert.equal('document' in outcome('true', query, {}), true, query);
      assert.equal(codeOf(outcome('false', query, { id: 1 })), 'INTROSPECTION_DISABLED', query);
      assert.equal(codeOf(outcome('viewers', query, {})), 'INTROSPECTION_DISABLED', query);
      assert.equal(codeOf(outcome('viewers', query, null)), 'INTROSPECTION_DISABLED', query);
      assert.equal('document' in outcome('viewers', query, { id: 1 }), true, query);
    }
  });

  it('is not what asks for __typename, or holds the words in a text or a comment', () => {
    for (const query of ['{ __typename house }', '{ house # __schema\n}']) {
      assert.equal('document' in outcome('false', query, {}), true, query);
    }
  });
});

describe('errors without suggestions', () => {
  const open = newExecutor();
  const closed = newExecutor(false);
  const BAD_INPUT = { where: { secret_numbe: 1 } };

  for (const query of [
    '{ hous }',
    '{ house(wher: {}) }',
    '{ house(color: VERMILON) }',
    'query ($c: Colo) { house(color: $c) }',
  ]) {
    it(`name nothing of the schema that the client has not: ${query}`, () => {
      assert.match(messageOf(open.prepare(query)), /Did you mean/);
      const [error] = closed.prepare(query) as readonly GraphQLError[];
      assert.doesNotMatch(error?.message ?? '', /Did you mean/);
      assert.notEqual(error?.message, '');
      assert.ok(error?.locations?.[0], 'and keep their location');
    });
  }

  it('tell nothing by variables, of a subscription or of a query', async () => {
    const subscription = 'subscription ($where: Where) { bid(where: $where) }';
    const query = 'query ($where: Where) { house(where: $where) }';
    const errorsBy = async (executor: Executor): Promise<string[]> => {
      const [first, second] = [executor.prepare(subscription), executor.prepare(query)];
      assert.ok('document' in first && 'document' in second);
      const result = await executor.execute(second, undefined, {}, BAD_INPUT);
      return [messageOf(executor.subscriptionField(first, BAD_INPUT)), messageOf(result.errors)];
    };
    for (const text of await errorsBy(open)) assert.match(text, /Did you mean "secret_number"\?$/);
    for (const text of await errorsBy(closed))
      assert.match(text, /"secret_numbe" is not defined by type "Where"\.$/);
  });
});
