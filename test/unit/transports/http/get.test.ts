import assert from 'node:assert/strict';
import { buildSchema } from 'graphql';
import { describe, it } from 'node:test';
import { TokenRefusal } from '../../../../src/auth/refusal.ts';
import { OperationAdmission } from '../../../../src/executor/operation-admission.ts';
import type { Job } from '../../../../src/support/turns.ts';
import { type HttpTransportOptions, type HttpResponse } from '../../../../src/transports/http/transport.ts';
import { CLIENT, GRAPHQL_RESPONSE, transports } from './whole.ts';

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

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function urlOf(params: Params): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) search.set(name, textOf(value));
  return `/graphql?${search}`;
}

function ask(
  url: string | Params,
  options: Partial<HttpTransportOptions> = {},
  signal = CLIENT.signal,
  accept = GRAPHQL_RESPONSE,
): Promise<HttpResponse> {
  const request = {
    headers: { accept },
    url: typeof url === 'string' ? url : urlOf(url),
    remoteAddress: undefined,
  };
  return transportWith(options).respond(request, undefined, { owner: {}, signal });
}

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

const resultOf = ({ body }: HttpResponse): Result => JSON.parse(body ?? 'null') as Result;

/** A GET and a POST of the same parameters. */
async function both(params: Params, options: Partial<HttpTransportOptions> = {}): Promise<HttpResponse[]> {
  const headers = { accept: GRAPHQL_RESPONSE, 'content-type': 'application/json' };
  const post = await transportWith(options).respond(
    { headers, url: '/graphql', remoteAddress: undefined },
    JSON.stringify(params),
    CLIENT,
  );
  return [await ask(params, options), post];
}

describe('HttpTransport, by GET', () => {
  it('answers a query with variables, of the operation that is named', async () => {
    const query = 'query A($name: String) { hello(name: $name) } query B { __typename }';
    const response = await ask({
      query,
      operationName: 'A',
      variables: { name: 'Ada & é?+%' },
      extensions: {},
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], `${GRAPHQL_RESPONSE}; charset=utf-8`);
    assert.deepEqual(resultOf(response), { data: { hello: 'Hello Ada & é?+%' } });
  });

  it('answers a query with a question mark that is not encoded', async () => {
    const response = await ask('/graphql?query={hello(name:"what?&variables={}');
    assert.match(resultOf(response).errors?.[0]?.message ?? '', /Unterminated string/);
    const whole = await ask('/graphql?query={hello(name:"what?")}');
    assert.deepEqual(resultOf(whole), { data: { hello: 'Hello what?' } });
  });

  for (const [what, params] of [
    ['the documentId of GraphQL over HTTP', { documentId: 'greeting' }],
    ['the hash of Apollo', { extensions: { persistedQuery: { version: 1, sha256Hash: 'greeting' } } }],
    ['an id and an empty query', { documentId: 'greeting', query: '' }],
  ] as const) {
    it(`answers a persisted document by ${what}`, async () => {
      const response = await ask({ ...params, variables: { name: 'Ada' } });
      assert.deepEqual(resultOf(response), { data: { hello: 'Hello Ada' } });
    });
  }

  for (const [what, url, message] of [
    ['no query', '/graphql', 'Missing query'],
    ['extensions that name no document', urlOf({ extensions: {} }), 'Missing query'],
    ['variables that are no JSON', '/graphql?query={hello}&variables={', 'Unparsable URL'],
    ['variables that are no object', '/graphql?query={hello}&variables=[1]', 'Invalid variables'],
    ['extensions that are no object', '/graphql?query={hello}&extensions=3', 'Invalid extensions'],
  ] as const) {
    it(`answers 400 to ${what}`, async () => {
      const response = await ask(url);
      assert.equal(response.status, 400);
      assert.equal(resultOf(response).errors?.[0]?.message, message);
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
        const response = await ask(params, {}, undefined, accept);
        assert.equal(response.status, 405);
        assert.equal(response.headers['allow'], 'POST');
        assert.match(resultOf(response).errors?.[0]?.message ?? '', /send them by POST/);
        assert.deepEqual(calls, []);
      }
    });
  }

  it('refuses a subscription and says that it goes over WebSocket', async () => {
    const response = await ask({ query: 'subscription { tick }' });
    assert.equal(response.status, 400);
    assert.match(resultOf(response).errors?.[0]?.message ?? '', /graphql-transport-ws/);
  });
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
      { query: MANIFEST.greeting, variables: { name: 3 } },
      /Variable "\$name" got invalid/,
    ],
    ['an unknown id', { documentId: 'nope' }, 'PERSISTED_QUERY_NOT_FOUND'],
    [
      'a text, where documents are persisted',
      { query: '{ hello }' },
      'PERSISTED_QUERY_ID_REQUIRED',
      { admission: new OperationAdmission({ executor, persisted, persistedOnly: true }) },
    ],
    [
      'introspection, where that is off',
      { query: '{ __schema { queryType { name } } }' },
      'INTROSPECTION_DISABLED',
      { admission: new OperationAdmission({ executor, introspection: 'false' }) },
    ],
    [
      'more operations than a connection may have',
      { query: '{ hello }' },
      'TOO_MANY_OPERATIONS',
      { maxOperations: 0 },
    ],
    [
      'authenticate',
      { query: '{ hello }' },
      'FORBIDDEN',
      { authenticator: { identify: async () => ({ viewer: null, token: undefined }) } },
    ],
    [
      'a bad token',
      { query: '{ hello }' },
      'UNAUTHENTICATED',
      { authenticator: { identify: async () => new TokenRefusal('bad token') } },
    ],
    [
      'keys that are away',
      { query: '{ hello }' },
      'SERVICE_UNAVAILABLE',
      { authenticator: { identify: async () => new TokenRefusal('not now', true) } },
    ],
  ];
  for (const [what, params, expected, options] of cases) {
    it(`a GET is refused for, too, and likewise: ${what}`, async () => {
      calls.length = 0;
      const [get, post] = await both(params, options);
      assert.deepEqual(get, post);
      assert.ok(get);
      assert.ok(get.status >= 400);
      const [error] = resultOf(get).errors ?? [];
      const seen = error?.extensions?.code ?? error?.message ?? '';
      if (typeof expected === 'string') assert.equal(seen, expected);
      else assert.match(`${seen}`, expected);
      assert.deepEqual(calls, []);
    });
  }

  it('a GET is refused for, too: others that wait for their turn', async () => {
    const jobs: Job[] = [];
    const transport = transportWith({ turns: { run: (_owner, job) => void jobs.push(job) } });
    const request = { headers: {}, url: '/graphql?query={hello}', remoteAddress: undefined };
    const waiting = Array.from({ length: 1_000 }, () => transport.respond(request, undefined, CLIENT));
    const refused = await transport.respond(request, undefined, CLIENT);
    assert.deepEqual([refused.status, refused.headers['retry-after'], jobs.length], [503, '1', 1_000]);
    for (const job of jobs) job();
    await Promise.all(waiting);
  });

  it('a GET is not executed for, too: a client that has left', async () => {
    calls.length = 0;
    await ask({ query: '{ hello }' }, {}, AbortSignal.abort());
    assert.deepEqual(calls, []);
  });
});
