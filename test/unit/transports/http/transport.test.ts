import assert from 'node:assert/strict';
import { buildSchema } from 'graphql';
import { describe, it } from 'node:test';
import { TokenRefusal } from '../../../../src/auth/refusal.ts';
import { Turns, type Job } from '../../../../src/support/turns.ts';
import type { HttpResponse } from '../../../../src/transports/http/http-response.ts';
import { CLIENT, GRAPHQL_RESPONSE, messageOf, post, resultOf, transports } from './whole.ts';

const schema = buildSchema(`
  scalar Big
  type Query { hello(name: String!): String fails: String secret: String big: Big }
  type Mutation { add(n: Int!): Int }
  type Subscription { tick: Int }
`);
const resolvers = {
  Query: {
    hello: (_root: unknown, { name }: { name: string }) => `Hello ${name}`,
    fails: () => {
      throw new Error('no such house');
    },
    big: () => 2n ** 64n,
  },
  Mutation: { add: async (_root: unknown, { n }: { n: number }) => n + 1 },
};
for (const type of [schema.getQueryType(), schema.getMutationType()]) {
  Object.entries(resolvers[type?.name as keyof typeof resolvers]).forEach(([name, resolve]) =>
    Object.assign(type?.getFields()[name] ?? {}, { resolve }),
  );
}
const { transportWith } = transports(schema, { secret: '{ secret }' });

const noop = (): void => undefined;
const ownerOf = (spentUntil: number) => ({ spentUntil, hold: noop, resume: noop, overrun: noop });

const DEEP = `{"query":"{ secret }","variables":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`;
const SECRET = JSON.stringify({ query: '{ secret }' });
const HELLO = '{ hello(name: "a") }';

/** By a client that takes what GraphQL over HTTP recommends. */
function posted(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return transportWith().respond(post({ accept: GRAPHQL_RESPONSE, ...headers }), text, CLIENT);
}

const errorsOf = (message: string, code: string): object => ({ errors: [{ message, extensions: { code } }] });

/** By `authenticate`. */
const REFUSED = { viewer: null, token: undefined };

describe('HttpTransport', () => {
  it('takes requests however many upgrades and messages of sockets wait for their turn', async () => {
    let now = 0;
    const turns = new Turns({ msPerSecond: 1_000, now: () => now });
    const job: Job = () => {
      now += 1;
      return 0;
    };
    for (const spentUntil of [1_000_000, 0]) {
      for (let count = 0; count < 1_500; count += 1) turns.run(ownerOf(spentUntil), job);
    }
    const response = await transportWith({ turns }).respond(post(), SECRET, CLIENT);
    assert.equal(response.status, 200);
  });

  it('refuses a client before it looks at the document, which names no field to it', async () => {
    const admission = { prepare: () => assert.fail('expected no look at the document') };
    const transport = transportWith({ admission, authenticator: { identify: async () => REFUSED } });
    const response = await transport.respond(post(), SECRET, CLIENT);
    assert.equal(response.status, 403);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    const message = 'Forbidden: authenticate refused the request';
    assert.deepEqual(resultOf(response), errorsOf(message, 'FORBIDDEN'));
  });

  const expired = new TokenRefusal('The token has expired');
  const noKeys = new TokenRefusal('No keys yet', true);
  for (const [what, viewer, status, code] of [
    ['that authenticate refuses', REFUSED, 403, 'FORBIDDEN'],
    ['without a valid token', expired, 401, 'UNAUTHENTICATED'],
    ['whose token can not be verified now', noKeys, 503, 'SERVICE_UNAVAILABLE'],
  ] as const) {
    it(`tells a client ${what} so, with a code and in the type that it takes`, async () => {
      const transport = transportWith({ authenticator: { identify: async () => viewer } });
      for (const accept of ['application/json', GRAPHQL_RESPONSE]) {
        const response = await transport.respond(post({ accept }), SECRET, CLIENT);
        assert.equal(response.status, status);
        assert.equal(response.headers['content-type'], `${accept}; charset=utf-8`);
        assert.equal(response.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
        assert.equal(resultOf(response).errors?.[0]?.extensions?.code, code);
      }
    });
  }

  it('counts a request against its owner’s share though its token is refused', async () => {
    const owner = { ...CLIENT.owner, spentUntil: 0, secondsOfRequest: 1 / 50 };
    const transport = transportWith({ authenticator: { identify: async () => expired } });
    assert.equal((await transport.respond(post(), SECRET, { ...CLIENT, owner })).status, 401);
    assert.equal(owner.spentUntil, 1_000 / 50);
  });

  it('answers with an error where JSON can’t hold the result', async () => {
    const response = await posted({ query: '{ other: big }' });
    const { data, errors: [error] = [] } = resultOf(response);
    assert.deepEqual([response.status, data], [200, null]);
    assert.deepEqual(error?.extensions, { code: 'UNSERIALISABLE_RESULT' });
  });

  it('answers a mutation', async () => {
    assert.deepEqual(resultOf(await posted({ query: 'mutation { add(n: 1) }' })), { data: { add: 2 } });
  });

  it('answers in the media type that the client asks for', async () => {
    for (const [accept, status, type] of [
      [`${GRAPHQL_RESPONSE}, application/json;q=0.9`, 200, GRAPHQL_RESPONSE],
      ['*/*', 200, 'application/json'],
      ['text/html', 406, 'application/json'],
    ] as const) {
      const response = await posted({ query: HELLO }, { accept });
      const got = [response.status, response.headers['content-type']];
      assert.deepEqual(got, [status, `${type}; charset=utf-8`], accept);
    }
    const message =
      'expected accept to name application/graphql-response+json or application/json, got text/html';
    const refused = await posted({ query: HELLO }, { accept: 'text/html' });
    assert.deepEqual(resultOf(refused), errorsOf(message, 'NOT_ACCEPTABLE'));
  });

  for (const [what, query] of [
    ['a syntax error', '{ hello('],
    ['a validation error', '{ hello(name: "a") nope }'],
  ] as const) {
    it(`answers ${what} with its location`, async () => {
      const response = await posted({ query });
      assert.equal(response.status, 400);
      const result = resultOf(response);
      assert.equal('data' in result, false);
      assert.equal(Array.isArray(result.errors?.[0]?.locations), true);
      const plain = await posted({ query }, { accept: 'application/json' });
      assert.equal(plain.status, 200, 'what clients of plain JSON expect');
    });
  }

  it("keeps a resolver's error beside the data, without its message and stack", async () => {
    const response = await posted({ query: '{ fails hello(name: "a") }' });
    assert.equal(response.status, 200);
    const extensions = { code: 'INTERNAL_SERVER_ERROR' };
    assert.deepEqual(resultOf(response), {
      data: { fails: null, hello: 'Hello a' },
      errors: [{ message: 'Internal server error', path: ['fails'], extensions }],
    });
  });

  for (const [what, body, message] of [
    ['no JSON', 'not json', 'Unparsable JSON body'],
    ['no object', '3', 'JSON body must be an object'],
    ['no query', {}, 'Missing query'],
    ['a query that is no text', { query: 3 }, 'Invalid query'],
    ['30,000 levels', DEEP, 'expected JSON of at most 500 levels, got more'],
    ['30,000 levels that never end', DEEP.slice(0, 30_000), 'expected JSON of at most 500 levels, got more'],
    ['variables that are no object', { query: '{ secret }', variables: [] }, 'Invalid variables'],
    ['several operations in one', [{ query: '{ secret }' }], 'Missing query'],
    [
      'a documentId that is no text',
      { documentId: 3, query: '{ secret }' },
      'expected documentId to be a text, got a value of type number',
    ],
  ] as const) {
    it(`answers 400 to a body with ${what}`, async () => {
      const response = await posted(body);
      assert.deepEqual([response.status, messageOf(response)], [400, message]);
    });
  }

  it('answers 415 to content types that a page may send to any host without a preflight', async () => {
    const response = await posted(SECRET, { 'content-type': 'text/plain' });
    assert.equal(response.status, 415);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    const message = 'expected content-type application/json, got text/plain';
    assert.deepEqual(resultOf(response), errorsOf(message, 'UNSUPPORTED_MEDIA_TYPE'));
  });
});
