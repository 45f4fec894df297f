import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { execute, GraphQLError, parse, type DocumentNode } from 'graphql';
import { Executor } from '../../src/executor/executor.ts';
import { Operation } from '../../src/executor/operation.ts';
import { createLog } from '../../src/log.ts';
import { ROOTS } from '../unit/executor/zoo-events.ts';
import { schema } from '../unit/executor/zoo.ts';

const EVENT = ROOTS['a full event'];
/** More often than it takes to compile. */
const RUNS = 13;

const repeated = (text: string, times: number): string => text.repeat(times);
const numbered = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join(' ');

/** Documents that no client means well with; each ends in errors. */
const REFUSED: Readonly<Record<string, string>> = {
  'an empty text': '',
  'something else': '\u0000\uD800 not GraphQL',
  'a schema': 'type Query { a: Int }',
  'a condition at the root, at which graphql-js throws':
    'subscription ($x: Boolean!) { event @include(if: $x) { id } }',
  'ten thousand levels': `subscription { ${repeated('event{', 10_000)}id${repeated('}', 10_000)} }`,
  'ten thousand levels of a type': `query ($a: ${repeated('[', 10_000)}Int${repeated(']', 10_000)}) { event { id } }`,
  'ten thousand aliases': `subscription { event { ${numbered(10_000, (index) => `a${index}: id`)} } }`,
  'thirty thousand times one field': `subscription { event { ${repeated('id ', 30_000)} } }`,
  'ten thousand directives': `subscription { event { id ${repeated('@skip(if: true) ', 10_000)} } }`,
  'ten thousand faults': `{ ${numbered(10_000, (index) => `f${index}`)} }`,
  'a fragment in itself': 'subscription { event { ...F } } fragment F on Event { id ...F }',
  'fragments in a circle':
    'subscription { event { ...F } } fragment F on Event { event { ...G } } fragment G on Event { ...F }',
  'a circle at the root': 'subscription { ...F } fragment F on Subscription { ...F event { id } }',
  'fragments that do not exist': 'subscription { ...Gone event { ...constructor } }',
  'a fragment called __proto__ in itself':
    'subscription { event { ...__proto__ } } fragment __proto__ on Event { id ...__proto__ }',
  'a field called __proto__': 'subscription { event { __proto__ constructor } }',
  'two root fields': 'subscription { event { id } strict_event { id } }',
  'introspection as a subscription': 'subscription { __schema { queryType { name } } }',
  'a variable of an unknown type': 'subscription ($a: constructor) { event(id: $a) { id } }',
};

/** Documents that are odd but right; each gives what graphql-js gives. */
const RUN: Readonly<Record<string, { text: string; name?: string; variables?: Record<string, unknown> }>> = {
  'five hundred levels': { text: `subscription { ${repeated('event{', 500)}id${repeated('}', 500)} }` },
  'a thousand aliases': { text: `subscription { event { ${numbered(1_000, (index) => `a${index}: id`)} } }` },
  'a hundred operations': {
    text: numbered(100, (index) => `subscription S${index} { event { id } }`),
    name: 'S99',
  },
  'keys of Object.prototype as aliases': {
    text: 'subscription { __proto__: event { constructor: id toString: title __proto__: seller { __proto__: name } } }',
  },
  'names of Object.prototype as fragments': {
    text: `subscription { event { ...constructor ...toString ...__proto__ } } fragment constructor on Event { id }
      fragment toString on Event { title } fragment __proto__ on Event { count seller { valueOf: name } }`,
  },
  'an operation called __proto__': { text: 'subscription __proto__ { event { id } }', name: '__proto__' },
  'an operation called constructor': {
    text: 'subscription a { event { id } } subscription constructor { event { title } }',
    name: 'constructor',
  },
  'a variable called __proto__': {
    text: 'subscription ($__proto__: Boolean = true, $n: Int) { event { id @skip(if: $__proto__) seen_args(int: $n) } }',
    variables: JSON.parse('{"__proto__": false, "n": 1}') as Record<string, unknown>,
  },
  'variables that would pollute': {
    text: 'subscription ($any: Anything, $range: Range) { event { seen_args(any: $any, range: $range) } }',
    variables: JSON.parse(
      '{"any": {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}, "range": {"to": 1, "__proto__": {}}}',
    ) as Record<string, unknown>,
  },
  'names that generated code uses itself': {
    text: `subscription ($__context: Int, $arguments: Int) { event { __context: id __parent: title __currentItem: tags idx0: tags err: count
      people { __parent: name __concrete: age finalType: shout __field: name resultArray: name } seen_args(int: $__context, strict: 1, range: { to: 1, from: $arguments }) } }`,
    variables: { __context: 1, arguments: 2 },
  },
  'text that would end a string of generated code': {
    text: 'subscription { event { seen_args(text: "\\"];process.exit(1);//\\u2028`${process.exit(1)}\\\\", any: "\'") } }',
  },
};

const touched = (): never => {
  throw new Error('touched');
};

describe('an executor under abuse', () => {
  let executor: Executor;
  beforeEach(() => {
    // Limits of cost are out of the way of what runs: bombs.test.ts is about them.
    const limits = { depth: 1_000, aliases: 1_000 };
    executor = new Executor({ schema, cacheSize: 10, maskErrors: false, log: createLog('silent'), limits });
  });

  afterEach(() => {
    const good = executor.prepare('subscription { event { id seller { name } } }');
    assert.ok(good instanceof Operation);
    const result = executor.execute(good, EVENT, {}, {});
    assert.equal(JSON.stringify(result), '{"data":{"event":{"id":"e1","seller":{"name":"Bob"}}}}');
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  for (const [title, text] of Object.entries(REFUSED)) {
    it(`refuses ${title}, again and again`, () => {
      for (let time = 0; time < 2; time++) {
        const errors = executor.prepare(text);
        assert.ok(Array.isArray(errors) && errors.length > 0, 'expected errors, got an operation');
        assert.ok(errors.every((error) => error instanceof GraphQLError));
        assert.ok(JSON.stringify(errors).length < 100_000, 'expected a short answer');
      }
    });
  }

  for (const [title, { text, name, variables = {} }] of Object.entries(RUN)) {
    it(`runs ${title} as graphql-js does`, async () => {
      const operation = executor.prepare(text, name);
      assert.ok(operation instanceof Operation, JSON.stringify(operation));
      assert.ok(!(executor.subscriptionField(operation, variables) instanceof GraphQLError));
      const given = { schema, rootValue: EVENT, contextValue: {}, variableValues: variables };
      const ofGraphqlJs = (document: DocumentNode) =>
        execute({ ...given, document, operationName: name ?? null });
      const begun = await ofGraphqlJs(parse(text, { noLocation: true }));
      // Errors of variables have locations.
      const expected = 'data' in begun ? begun : await ofGraphqlJs(parse(text));
      for (let run = 0; run < RUNS; run++) {
        const result = await executor.execute(operation, EVENT, {}, variables);
        assert.equal(JSON.stringify(result), JSON.stringify(expected));
      }
    });
  }

  it('answers variables that are not an object with errors', async () => {
    const operation = executor.prepare('subscription ($id: ID) { event(id: $id) { id } }');
    assert.ok(operation instanceof Operation);
    for (const variables of [null, 'text', 7, []] as unknown as Record<string, unknown>[]) {
      for (let run = 0; run < RUNS; run++) {
        const result = await executor.execute(operation, EVENT, {}, variables);
        assert.ok(result.errors !== undefined || result.data !== undefined);
      }
      const found = executor.subscriptionField(operation, variables);
      assert.ok(Array.isArray(found) || 'field' in found);
    }
  });

  it('lives through a root value and context that throw at every touch', async () => {
    const touchy = new Proxy({}, { get: touched, getPrototypeOf: touched });
    const operation = executor.prepare('subscription { event { id } }');
    assert.ok(operation instanceof Operation);
    for (let run = 0; run < RUNS; run++) {
      for (const root of [touchy, { event: touchy }]) {
        const { errors } = await executor.execute(operation, root, touchy, {});
        assert.match(JSON.stringify(errors), /touched/);
      }
    }
  });
});
