import assert from 'node:assert/strict';
import { buildSchema } from 'graphql';
import { describe, it } from 'node:test';
import { TokenRefusal } from '../../../../src/auth/refusal.ts';
import type { Identity } from '../../../../src/context/token-authenticator.ts';
import { OperationAdmission } from '../../../../src/executor/operation-admission.ts';
import type { HttpResponse } from '../../../../src/transports/http/http-response.ts';
import type { HttpTransportOptions } from '../../../../src/transports/http/transport.ts';
import { CLIENT, clientOn, GRAPHQL_RESPONSE, head, messageOf, post, resultOf, transports } from './whole.ts';

const schema = buildSchema(`
  type Query { hello(name: String): String deep: Deep }
  type Deep { deep: Deep name: String }
  type Mutation { add(n: Int!): Int }
  type Subscription { tick: Int }
`);
const calls: string[] = [];
const hello = schema.getQueryType()?.getFields()['hello'];
const add = schema.getMutationType()?.getFields()['add'];
assert.ok(hello && add);
hello.resolve = (_root, { name }: { name?: string }) => {
  calls.push('hello');
  return `Hello ${name}`;
};
add.resolve = () => calls.push('add');

const MANIFEST = { greeting: 'query ($name: String) { hello(name: $name) }', add: 'mutation { add(n: 1) }' };
const { executor, persisted, transportWith } = transports(schema, MANIFEST, { depth: 3, tokens: 200 });

type Params = Readonly<Record<string, unknown>>;
type Asked = Partial<HttpTransportOptions & { readonly signal: AbortSignal; readonly accept: string }>;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function urlOf(params: Params): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) search.set(name, textOf(value));
  return `/graphql?${search}`;
}

function ask(
  url: string | Params,
  { signal = CLIENT.signal, accept = GRAPHQL_RESPONSE, ...options }: Asked = {},
): Promise<HttpResponse> {
  const request = head(typeof url === 'string' ? url : urlOf(url), { accept });
  return transportWith(options).respond(request, undefined, clientOn({}, signal));
}

/** A GET and a POST of the same parameters, which are answered likewise. */
async function both(params: Params, options: Partial<HttpTransportOptions> = {}): Promise<HttpResponse> {
  const get = await ask(params, options);
  const request = post({ accept: GRAPHQL_RESPONSE });
  assert.deepEqual(await transportWith(options).respond(request, JSON.stringify(params), CLIENT), get);
  return get;
}

describe('HttpTransport, by GET and by POST', () => {
  it('answers a query with variables, of the operation that is named', async () => {
    const query = 'query A($name: String) { hello(name: $name) } query B { __typename }';
    const variables = { name: 'Ada & é?+%' };
    const response = await both({ query, operationName: 'A', variables, extensions: {} });
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], `${GRAPHQL_RESPONSE}; charset=utf-8`);
    assert.deepEqual(resultOf(response), { data: { hello: 'Hello Ada & é?+%' } });
  });

  for (const [what, params] of [
    ['the documentId of GraphQL over HTTP', { documentId: 'greeting' }],
    ['the hash of Apollo', { extensions: { persistedQuery: { version: 1, sha256Hash: 'greeting' } } }],
    ['an id and an empty query', { documentId: 'greeting', query: '' }],
  ] as const) {
    it(`answers a persisted document by ${what}`, async () => {
      const response = await both({ ...params, variables: { name: 'Ada' } });
      assert.deepEqual(resultOf(response), { data: { hello: 'Hello Ada' } });
    });
  }

  it('refuses a subscription and says that it goes over WebSocket', async () => {
    const response = await both({ query: 'subscription { tick }' });
    assert.equal(response.status, 400);
    assert.match(messageOf(response), /graphql-transport-ws/);
  });
});

describe('HttpTransport, by GET', () => {
  it('answers a query with a question mark that is not encoded', async () => {
    assert.match(
      messageOf(await ask('/graphql?query={hello(name:"what?&variables={}')),
      /Unterminated string/,
    );
    const whole = await ask('/graphql?query={hello(name:"what?")}');
    assert.deepEqual(resultOf(whole), { data: { hello: 'Hello what?' } });
  });

  for (const [what, url, message] of [
    ['no query', '/graphql', 'Missing query'],
    ['extensions that name no document', urlOf({ extensions: {} }), 'Missing query'],
    ['variables that are no JSON', '/graphql?query={hello}&variables={', 'Unparsable URL'],
    ['variables that are no object', '/graphql?query={hello}&variables=[1]', 'Invalid variables'],
    ['extensions that are no object', '/graphql?query={hello}&extensions=3', 'Invalid extensions'],
    [
      'extensions that are nested too deep',
      `/graphql?query={hello}&extensions={"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`,
      'expected JSON of at most 500 levels, got more',
    ],
  ] as const) {
    it(`answers 400 to ${what}`, async () => {
      const response = await ask(url);
      assert.deepEqual([response.status, messageOf(response)], [400, message]);
    });
  }

  for (const [what, params] of [
    ['a mutation', { query: 'mutation { add(n: 1) }' }],
    ['a mutation among queries', { query: 'query A { hello } mutation B { add(n: 1) }', operationName: 'B' }],
    ['a mutation by id', { documentId: 'add' }],
    ['a mutation in a comment of a query', { query: '# { hello }\nmutation { add(n: 1) }' }],
  ] as const) {
    it(`refuses ${what} with 405, and does not execute it`, async () => {
      for (const accept of [GRAPHQL_RESPONSE, 'application/json']) {
        calls.length = 0;
        const response = await ask(params, { accept });
        assert.deepEqual([response.status, response.headers['allow']], [405, 'POST']);
        assert.match(messageOf(response), /send them by POST/);
        assert.deepEqual(calls, []);
      }
    });
  }
});

const HELLO = { query: '{ hello }' };

type Admitting = Partial<ConstructorParameters<typeof OperationAdmission>[0]>;
const admitting = (options: Admitting) => ({
  admission: new OperationAdmission({ executor, persisted, ...options }),
});
const identifying = (identity: Identity | TokenRefusal) => ({
  authenticator: { identify: async () => identity },
});

describe('what a POST is refused for', () => {
  const deep = '{ deep { deep { deep { name } } } }';
  const cases: readonly [
    what: string,
    params: Params,
    code: string | RegExp,
    options?: Partial<HttpTransportOptions>,
  ][] = [
    ['depth', { query: deep }, 'TOO_DEEP'],
    ['tokens', { query: `{ ${'hello '.repeat(300)} }` }, /^TOO_/],
    ['a syntax error', { query: '{ hello(' }, /Syntax Error/],
    ['a field that is not there', { query: '{ nope }' }, /Cannot query field/],
    ['variables', { query: 'query ($n: Int!) { hello @skip(if: $n) }' }, /Variable/],
    [
      'a wrong variable',
      { documentId: 'greeting', variables: { name: 3 } },
      /^Variable "\$name" got invalid value 3/,
    ],
    [
      'variables that are nested too deep',
      { ...HELLO, variables: { name: JSON.parse('['.repeat(500) + ']'.repeat(500)) as unknown } },
      'expected JSON of at most 500 levels, got more',
    ],
    ['an unknown id', { documentId: 'nope' }, 'PERSISTED_QUERY_NOT_FOUND'],
    [
      'a text, where documents are persisted',
      HELLO,
      'PERSISTED_QUERY_ID_REQUIRED',
      admitting({ persistedOnly: true }),
    ],
    [
      'introspection, where that is off',
      { query: '{ __schema { queryType { name } } }' },
      'INTROSPECTION_DISABLED',
      admitting({ introspection: 'false' }),
    ],
    ['more operations than a connection may have', HELLO, 'TOO_MANY_OPERATIONS', { maxOperations: 0 }],
    ['authenticate', HELLO, 'FORBIDDEN', identifying({ viewer: null, token: undefined })],
    ['a bad token', HELLO, 'UNAUTHENTICATED', identifying(new TokenRefusal('bad token'))],
    ['keys that are away', HELLO, 'SERVICE_UNAVAILABLE', identifying(new TokenRefusal('not now', true))],
  ];
  for (const [what, params, expected, options] of cases) {
    it(`a GET is refused for, too, and likewise: ${what}`, async () => {
      calls.length = 0;
      const response = await both(params, options);
      assert.ok(response.status >= 400);
      const { data, errors } = resultOf(response);
      assert.equal(data, undefined);
      const seen = errors?.[0]?.extensions?.code ?? errors?.[0]?.message ?? '';
      if (typeof expected === 'string') assert.equal(seen, expected);
      else assert.match(seen, expected);
      assert.deepEqual(calls, []);
    });
  }

  it('a GET is not executed for, too: a client that has left', async () => {
    calls.length = 0;
    await ask(HELLO, { signal: AbortSignal.abort() });
    assert.deepEqual(calls, []);
  });
});
