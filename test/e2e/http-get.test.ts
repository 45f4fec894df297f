import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { sharedGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { calls: Int me: Me }
  type Me { id: ID me: Me secret: String @auth(requires: "admin") }
  type Mutation { call: Int }
  type Subscription { item: Item @event(topic: "items") }
  type Item { id: ID }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  let calls = 0;
  export default defineGraph({
    resolvers: {
      Query: {
        calls: () => calls,
        me: (_root, _args, ctx) => ({ id: ctx.viewer.id, secret: 'secret', me: {} }),
      },
      Mutation: { call: () => (calls += 1) },
    },
  });
`;

const ALLOWED = 'https://app.example';

const gatewayOf = sharedGraph(
  { 'schema.graphql': SCHEMA, 'graph.js': GRAPH },
  {
    ORIGINS: ALLOWED,
    AUTH_SECRET: SECRET,
    AUTH_CLAIMS: 'id=sub,role',
    AUTH_COOKIE: 'session',
    AUTH_ANONYMOUS: 'true',
    MAX_DEPTH: '2',
    MAX_PAYLOAD_BYTES: '2048',
  },
);

/** Unlike `fetch`, sends any header, and the URL as it stands. */
async function get(
  gateway: GatewayProcess,
  query: string,
  headers: Record<string, string> = {},
  method = 'GET',
) {
  const outgoing = request(`${gateway.httpUrl}/graphql${query}`, { method, headers, agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const header = (name: string): string | undefined => response.headers[name]?.toString();
  return { status: response.statusCode, header, body: await text(response) };
}

const q = (query: string): string => `?query=${encodeURIComponent(query)}`;

test('a GET executes neither a mutation nor a subscription, and nothing for a page that may not connect', async () => {
  const gateway = await gatewayOf();
  for (const method of ['GET', 'HEAD']) {
    const mutation = await get(gateway, q('mutation { call }'), { origin: ALLOWED }, method);
    assert.equal(mutation.status, 405);
    assert.equal(mutation.header('allow'), 'POST');
    assert.equal(mutation.header('access-control-allow-origin'), ALLOWED);
  }
  const subscription = await get(gateway, q('subscription { item { id } }'));
  assert.match(subscription.body, /graphql-transport-ws/);
  for (const headers of [
    { origin: 'https://other.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
  ] as Record<string, string>[]) {
    for (const query of ['mutation { call }', '{ calls }']) {
      const refused = await get(gateway, q(query), headers);
      assert.equal(refused.status, 403);
      assert.equal(refused.header('access-control-allow-origin'), '*');
      assert.match(refused.body, /"errors":.*ORIGIN_NOT_ALLOWED/);
    }
  }
  assert.equal(await gateway.metric('sluice_refusals_total{reason="origin"}'), 6);
  assert.deepEqual(JSON.parse((await get(gateway, q('{ calls }'))).body), { data: { calls: 0 } });
});

test('a GET holds to the limits and the rights that a POST holds to, and its refusals can be read', async () => {
  const gateway = await gatewayOf();
  const origin = ALLOWED;
  const deep = await get(gateway, q('{ me { me { me { id } } } }'), { origin });
  assert.match(deep.body, /TOO_DEEP/);
  const secret = await get(gateway, q('{ me { id secret } }'), { origin });
  assert.match(secret.body, /UNAUTHENTICATED/);
  const long = await get(gateway, q(`{ me { id } } # ${'x'.repeat(2_100)}`), { origin });
  assert.equal(long.status, 414);
  const bad = await get(gateway, q('{ me { id } }'), { origin, authorization: 'Bearer a.b.c' });
  assert.equal(bad.status, 401);
  for (const { header } of [deep, secret, long, bad]) {
    assert.equal(header('access-control-allow-origin'), ALLOWED);
    assert.equal(header('cache-control'), 'no-store');
  }
  // Longer than Node.js reads headers.
  assert.equal((await get(gateway, q('x'.repeat(20_000)))).status, 431);
});

test('a token by GET is taken from the header, and from a cookie only of a page that may connect', async () => {
  const gateway = await gatewayOf();
  const token = await signToken({ sub: 'ann', role: 'admin' });
  const cookie = `session=${token}`;
  const viewerOf = async (headers: Record<string, string>): Promise<unknown> =>
    (JSON.parse((await get(gateway, q('{ me { id } }'), headers)).body) as { data: { me: { id: unknown } } })
      .data.me.id;
  assert.equal(await viewerOf({ authorization: `Bearer ${token}` }), 'ann');
  assert.equal(await viewerOf({ cookie, origin: ALLOWED }), 'ann');
  assert.equal(await viewerOf({ cookie, host: 'localhost' }), null);
  assert.equal(await viewerOf({ cookie, 'sec-fetch-site': 'none' }), null);
});
