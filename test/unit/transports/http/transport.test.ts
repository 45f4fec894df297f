import assert from 'node:assert/strict';
import { buildSchema } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { TokenRefusal } from '../../../../src/auth/refusal.ts';
import { OperationAdmission } from '../../../../src/executor/operation-admission.ts';
import type { Executor } from '../../../../src/executor/executor.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import { Turns, type Job } from '../../../../src/support/turns.ts';
import type { HttpResponse } from '../../../../src/transports/http/transport.ts';
import { CLIENT, GRAPHQL_RESPONSE, transports } from './whole.ts';

const schema = buildSchema(`
  type Query { hello(name: String!): String fails: String secret: String }
  type Mutation { add(n: Int!): Int }
  type Subscription { tick: Int }
`);
const resolvers = {
  Query: {
    hello: (_root: unknown, { name }: { name: string }) => `Hello ${name}`,
    fails: () => {
      throw new Error('no such house');
    },
  },
  Mutation: { add: async (_root: unknown, { n }: { n: number }) => n + 1 },
};
for (const type of [schema.getQueryType(), schema.getMutationType()]) {
  Object.entries(resolvers[type?.name as keyof typeof resolvers]).forEach(([name, resolve]) =>
    Object.assign(type?.getFields()[name] ?? {}, { resolve }),
  );
}
const GREETING = 'query ($name: String!) { hello(name: $name) }';
const { executor, transportWith } = transports(schema, { greeting: GREETING });

const noop = (): void => undefined;
const ownerOf = (spentUntil: number) => ({ spentUntil, hold: noop, resume: noop, overrun: noop });

const HEAD = {
  headers: { 'content-type': 'application/json' },
  url: '/graphql',
  remoteAddress: undefined,
};

function post(body: unknown, headers: Record<string, string> = {}, viewer: Json = {}): Promise<HttpResponse> {
  return transportWith({ authenticator: { identify: async () => ({ viewer, token: undefined }) } }).respond(
    { ...HEAD, headers: { ...HEAD.headers, ...headers } },
    typeof body === 'string' ? body : JSON.stringify(body),
    CLIENT,
  );
}

interface Result {
  data?: unknown;
  errors?: { message: string; path?: unknown; locations?: unknown; extensions?: { code: string } }[];
}

const resultOf = ({ body }: HttpResponse): Result => JSON.parse(body ?? 'null') as Result;

/** By `authenticate`. */
const REFUSED = { viewer: null, token: undefined };

describe('HttpTransport', () => {
  it('refuses requests while too many others wait for their turn', async () => {
    const jobs: Job[] = [];
    const transport = transportWith({ turns: { run: (_owner, job) => void jobs.push(job) } });
    const ask = (): Promise<HttpResponse> =>
      transport.respond(HEAD, '{"query":"{ hello(name: \\"a\\") }"}', CLIENT);
    const first = Array.from({ length: 1_000 }, ask);
    const refused = await ask();
    assert.deepEqual([refused.status, refused.headers['retry-after'], jobs.length], [503, '1', 1_000]);
    for (const job of jobs.splice(0)) job();
    assert.deepEqual(new Set((await Promise.all(first)).map(({ status }) => status)), new Set([200]));
    const later = ask();
    await nextTurn();
    jobs.pop()?.();
    assert.equal((await later).status, 200);
  });

  it('takes requests however many upgrades and messages of sockets wait for their turn', async () => {
    let now = 0;
    const turns = new Turns({ msPerSecond: 1_000, now: () => now });
    const job: Job = () => {
      now += 1;
      return 0;
    };
    for (let count = 0; count < 1_500; count += 1) turns.run(ownerOf(1_000_000), job);
    for (let count = 0; count < 1_500; count += 1) turns.run(ownerOf(0), job);
    const response = await transportWith({ turns }).respond(
      HEAD,
      '{"query":"{ hello(name: \\"a\\") }"}',
      CLIENT,
    );
    assert.equal(response.status, 200);
  });

  it('refuses a client before it looks at the document, which names no field to it', async () => {
    let prepared = 0;
    const counting = {
      prepare: (...given: Parameters<Executor['prepare']>) => {
        prepared += 1;
        return executor.prepare(...given);
      },
    };
    const transport = transportWith({
      admission: new OperationAdmission({ executor: counting }),
      authenticator: { identify: async () => REFUSED },
    });
    const response = await transport.respond(HEAD, JSON.stringify({ query: '{ secrte }' }), CLIENT);
    assert.equal(response.status, 403);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual(resultOf(response), {
      errors: [{ message: 'Forbidden: authenticate refused the request', extensions: { code: 'FORBIDDEN' } }],
    });
    assert.equal(prepared, 0);
  });

  for (const [what, viewer, status, code] of [
    ['that authenticate refuses', REFUSED, 403, 'FORBIDDEN'],
    ['without a valid token', new TokenRefusal('The token has expired'), 401, 'UNAUTHENTICATED'],
    [
      'whose token can not be verified now',
      new TokenRefusal('No keys yet', true),
      503,
      'SERVICE_UNAVAILABLE',
    ],
  ] as const) {
    it(`tells a client ${what} so, with a code and in the type that it takes`, async () => {
      const transport = transportWith({ authenticator: { identify: () => Promise.resolve(viewer) } });
      for (const type of ['application/json', GRAPHQL_RESPONSE]) {
        const headers = { ...HEAD.headers, accept: type };
        const response = await transport.respond({ ...HEAD, headers }, '{"query":"{ secret }"}', CLIENT);
        assert.equal(response.status, status);
        assert.equal(response.headers['content-type'], `${type}; charset=utf-8`);
        assert.equal(response.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
        assert.equal(resultOf(response).errors?.[0]?.extensions?.code, code);
      }
    });
  }

  it('answers a query, with variables', async () => {
    const response = await post({ query: GREETING, variables: { name: 'Ada' } });
    assert.equal(response.status, 200);
    assert.deepEqual(resultOf(response), { data: { hello: 'Hello Ada' } });
  });

  it('answers a mutation', async () => {
    assert.deepEqual(resultOf(await post({ query: 'mutation { add(n: 1) }' })), { data: { add: 2 } });
  });

  it('runs the operation that the request names', async () => {
    const query = 'query A { hello(name: "a") } query B { hello(name: "b") }';
    assert.deepEqual(resultOf(await post({ query, operationName: 'B' })), { data: { hello: 'Hello b' } });
  });

  it('answers in the media type that the client asks for', async () => {
    const query = '{ hello(name: "a") }';
    const modern = await post({ query }, { accept: `${GRAPHQL_RESPONSE}, application/json;q=0.9` });
    assert.equal(modern.headers['content-type'], `${GRAPHQL_RESPONSE}; charset=utf-8`);
    const usual = await post({ query }, { accept: '*/*' });
    assert.equal(usual.headers['content-type'], 'application/json; charset=utf-8');
    const refused = await post({ query }, { accept: 'text/html' });
    assert.equal(refused.status, 406);
    assert.equal(refused.headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual(resultOf(refused), {
      errors: [
        {
          message:
            'expected accept to name application/graphql-response+json or application/json, got text/html',
          extensions: { code: 'NOT_ACCEPTABLE' },
        },
      ],
    });
  });

  it('refuses a subscription and says that it goes over WebSocket', async () => {
    const response = await post({ query: 'subscription { tick }' }, { accept: GRAPHQL_RESPONSE });
    assert.equal(response.status, 400);
    assert.match(resultOf(response).errors?.[0]?.message ?? '', /graphql-transport-ws/);
  });

  for (const [what, query] of [
    ['a syntax error', '{ hello('],
    ['a validation error', '{ hello(name: "a") nope }'],
  ] as const) {
    it(`answers ${what} with its location`, async () => {
      const response = await post({ query }, { accept: GRAPHQL_RESPONSE });
      assert.equal(response.status, 400);
      const result = resultOf(response);
      assert.equal('data' in result, false);
      assert.equal(Array.isArray(result.errors?.[0]?.locations), true);
      assert.equal((await post({ query })).status, 200); // What plain JSON clients expect.
    });
  }

  it('answers wrong variables as a request that was not executed', async () => {
    const response = await post({ query: GREETING, variables: { name: 1 } }, { accept: GRAPHQL_RESPONSE });
    assert.equal(response.status, 400);
    const result = resultOf(response);
    assert.equal('data' in result, false);
    assert.match(result.errors?.[0]?.message ?? '', /^Variable "\$name" got invalid value 1/);
  });

  it("keeps a resolver's error beside the data, without its message and stack", async () => {
    const response = await post({ query: '{ fails hello(name: "a") }' }, { accept: GRAPHQL_RESPONSE });
    assert.equal(response.status, 200);
    const { data, errors } = resultOf(response);
    assert.deepEqual(data, { fails: null, hello: 'Hello a' });
    const extensions = { code: 'INTERNAL_SERVER_ERROR' };
    assert.deepEqual(errors, [{ message: 'Internal server error', path: ['fails'], extensions }]);
  });

  for (const [what, body, message] of [
    ['no JSON', 'not json', 'Unparsable JSON body'],
    ['no object', '3', 'JSON body must be an object'],
    ['no query', {}, 'Missing query'],
    ['a query that is no text', { query: 3 }, 'Invalid query'],
    ['variables that are no object', { query: '{ secret }', variables: [] }, 'Invalid variables'],
    ['several operations in one', [{ query: '{ secret }' }], 'Missing query'],
  ] as const) {
    it(`answers 400 to a body with ${what}`, async () => {
      const response = await post(body);
      assert.equal(response.status, 400);
      assert.equal(resultOf(response).errors?.[0]?.message, message);
    });
  }

  for (const [what, body] of [
    ['the documentId of GraphQL over HTTP', { documentId: 'greeting' }],
    ['the hash of Apollo', { extensions: { persistedQuery: { version: 1, sha256Hash: 'greeting' } } }],
    ['an id and an empty query', { documentId: 'greeting', query: '' }],
  ] as const) {
    it(`answers a persisted document by ${what}`, async () => {
      const response = await post({ ...body, variables: { name: 'Ada' } });
      assert.deepEqual(resultOf(response), { data: { hello: 'Hello Ada' } });
    });
  }

  it('answers an unknown id with one error, and an id of a wrong type with what was expected', async () => {
    const unknown = await post({ documentId: 'nope' }, { accept: GRAPHQL_RESPONSE });
    assert.equal(unknown.status, 400);
    assert.deepEqual(resultOf(unknown), {
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    });
    const wrong = await post({ documentId: 3, query: '{ secret }' }, { accept: GRAPHQL_RESPONSE });
    assert.equal(wrong.status, 400);
    assert.match(
      resultOf(wrong).errors?.[0]?.message ?? '',
      /^expected documentId to be a text, got a value of type number$/,
    );
  });

  it('answers 415 to content types that a page may send to any host without a preflight', async () => {
    const response = await post({ query: '{ secret }' }, { 'content-type': 'text/plain' });
    assert.equal(response.status, 415);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual(resultOf(response), {
      errors: [
        {
          message: 'expected content-type application/json, got text/plain',
          extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' },
        },
      ],
    });
  });
});
