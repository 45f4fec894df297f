import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ClientOptions } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { upTo } from '../helpers/numbers.ts';
import { asking, revoke, sharedGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { me: String }
  type Subscription {
    bid: Bid @event(topic: "bids")
    sealed_bid: Bid @event(topic: "bids") @auth(requires: "admin")
  }
  type Bid { n: Int, role: String, slow_role: String }
`;

const GRAPH = `
  import { setTimeout } from 'node:timers/promises';
  import { defineGraph } from 'sluice';
  export default defineGraph({
    resolvers: {
      Query: { me: (_root, _args, ctx) => JSON.stringify(ctx.viewer) },
      Bid: {
        role: (_bid, _args, ctx) => ctx.viewer.role,
        slow_role: async (_bid, _args, ctx) => (await setTimeout(20), ctx.viewer.role),
      },
    },
  });
`;

const FILES = { 'schema.graphql': SCHEMA, 'graph.ts': GRAPH };

const SETTINGS = {
  AUTH_SECRET: SECRET,
  AUTH_CLAIMS: 'id=sub,role',
  AUTH_COOKIE: 'session',
  AUTH_CLOCK_TOLERANCE_SECONDS: '0',
  AUTH_GRACE_SECONDS: '1',
  ORIGINS: 'https://pages.example',
};

const gatewayOf = sharedGraph(FILES, SETTINGS);

const PREVIOUS = 'the secret of before, of thirty-two bytes';

/** Takes tokens that have expired on a machine that stood still, and those of a secret that is being changed. */
const tolerantGatewayOf = sharedGraph(FILES, {
  ...SETTINGS,
  AUTH_CLOCK_TOLERANCE_SECONDS: '300',
  AUTH_SECRET_PREVIOUS: PREVIOUS,
});

const QUERY = { query: '{ me }' };

/** A client that sends these headers with its handshake. */
function withHeaders(headers: Record<string, string>): Partial<ClientOptions> {
  class WithHeaders extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { headers });
    }
  }
  return { webSocketImpl: WithHeaders };
}

/** What the gateway says to a client that connects so: its viewer, or why it is closed. */
async function answer(
  t: TestContext,
  gateway: GatewayProcess,
  options: Partial<ClientOptions>,
): Promise<unknown> {
  const received = new Received<{ me: string }>(graphqlClient(t, gateway.graphqlUrl, options), QUERY.query);
  const end = await received.untilEnd();
  return end === 'complete' ? JSON.parse(received.data[0]?.me ?? '') : received.untilClosed();
}

const post = (gateway: GatewayProcess, headers: Record<string, string>) =>
  postJson(`${gateway.httpUrl}/graphql`, QUERY, headers);

test('a token is taken from the payload of connection_init, the header or a cookie of an allowed page', async (t) => {
  const gateway = await gatewayOf();
  const token = await signToken({ sub: 'ann', role: 'seller' });
  const viewer = { id: 'ann', role: 'seller' };
  const authorization = `Bearer ${token}`;
  const cookie = `other=1; session=${token}; session2=x`;
  const origin = 'https://pages.example';
  assert.deepEqual(await answer(t, gateway, { connectionParams: { token } }), viewer);
  assert.deepEqual(await answer(t, gateway, { connectionParams: { authorization } }), viewer);
  assert.deepEqual(await answer(t, gateway, withHeaders({ authorization })), viewer);
  assert.deepEqual(await answer(t, gateway, withHeaders({ cookie, origin })), viewer);
  assert.equal(await answer(t, gateway, withHeaders({ cookie })), '4403 Expected a token, got none');
  for (const headers of [{ authorization }, { cookie, origin }] as Record<string, string>[]) {
    const { body } = await post(gateway, headers);
    assert.deepEqual(JSON.parse((JSON.parse(body) as { data: { me: string } }).data.me), viewer);
  }
  const foreign = await post(gateway, { cookie, origin: 'https://elsewhere.example' });
  assert.equal(foreign.status, 403);
});

test('while a secret is changed, tokens of both let clients in', async (t) => {
  const gateway = await tolerantGatewayOf();
  for (const secret of [SECRET, PREVIOUS]) {
    const token = await signToken({ sub: 'ann' }, 3_600, secret);
    assert.deepEqual(await answer(t, gateway, { connectionParams: { token } }), { id: 'ann' });
  }
  const token = await signToken({ sub: 'ann' }, 3_600, PREVIOUS);
  const elsewhere = await answer(t, await gatewayOf(), { connectionParams: { token } });
  assert.equal(elsewhere, "4403 The token's signature is wrong");
});

test('a client without a valid token is closed with 4403 and told why, and a POST gets 401', async (t) => {
  const gateway = await gatewayOf();
  const [, payload = ''] = (await signToken({ sub: 'ann' })).split('.');
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
  const cases: [unknown, string][] = [
    [undefined, 'Expected a token, got none'],
    [await signToken({ sub: 'ann' }, -10), 'The token has expired'],
    [unsigned, 'The token is signed by an algorithm that is not allowed'],
  ];
  for (const [token, reason] of cases) {
    assert.equal(await answer(t, gateway, { connectionParams: { token } }), `4403 ${reason}`);
    if (typeof token !== 'string') continue;
    const response = await post(gateway, { authorization: `Bearer ${token}` });
    assert.equal(response.status, 401);
    assert.equal(response.headers['www-authenticate'], 'Bearer');
    const error = { message: reason, extensions: { code: 'UNAUTHENTICATED' } };
    assert.deepEqual(JSON.parse(response.body), { errors: [error] });
  }
  assert.equal(await gateway.metric('sluice_closes_total{code="4403",reason="token_refused"}'), cases.length);
  // Lines come in order: once this one is here, all of those clients are.
  const origin = 'https://later.example';
  assert.equal((await post(gateway, { origin })).status, 403);
  await gateway.untilLine((line) => line['origin'] === origin);
  const said = JSON.stringify(gateway.lines);
  assert.ok(!said.includes(SECRET) && !said.includes(payload), 'neither secret nor token is logged');
});

/** A client that answers warnings with what `fresh` gives, in the payload of a pong or of a ping. */
function refreshing(token: string, fresh: () => Promise<string | undefined>, type: 'ping' | 'pong' = 'pong') {
  const warnings: unknown[] = [];
  const answers: unknown[] = [];
  let socket: WebSocket | undefined;
  const send = async (): Promise<void> => {
    const next = await fresh();
    if (next !== undefined) socket?.send(JSON.stringify({ type, payload: { auth: { token: next } } }));
  };
  const options: Partial<ClientOptions> = {
    connectionParams: { token },
    on: {
      opened: (opened) => (socket = opened as WebSocket),
      ping: (isReceived, payload) => {
        if (!isReceived) return;
        warnings.push(payload);
        void send();
      },
      pong: (isReceived, payload) => isReceived && answers.push(payload),
    },
  };
  return { options, warnings, answers, send };
}

test('a client that sends a fresh token in a pong or a ping loses no event, and gets what the new token lets it see', async (t) => {
  const gateway = await tolerantGatewayOf();
  let role = 'guest';
  const fresh = (): Promise<string> => signToken({ sub: 'ann', role }, 5);
  const clients = await Promise.all(
    (['pong', 'ping'] as const).map(async (type) => {
      const { options, warnings, answers } = refreshing(await fresh(), fresh, type);
      const client = graphqlClient(t, gateway.graphqlUrl, options);
      type Bid = { bid: { n: number; slow_role: string } };
      const received = new Received<Bid>(client, 'subscription { bid { n slow_role } }');
      return { warnings, answers, received };
    }),
  );
  await gateway.untilMetric('sluice_subscribers', clients.length);
  await gateway.postEvent('bids', { n: 1 });
  for (const { received } of clients) await received.until(1);
  role = 'admin';
  let n = 1;
  // Events go on until the clients have lived through several tokens.
  while (clients.some(({ warnings }) => warnings.length < 3)) {
    n += 1;
    await gateway.postEvent('bids', { n });
    for (const { received } of clients) await received.until(Math.max(1, n - 3));
  }
  n += 1;
  await gateway.postEvent('bids', { n });
  for (const { received, warnings } of clients) {
    await received.until(n);
    assert.deepEqual(
      received.data.map((data) => data?.bid.n),
      upTo(n),
    );
    const roles = received.data.map((data) => data?.bid.slow_role);
    assert.deepEqual(roles, roles.toSorted().toReversed());
    assert.deepEqual(new Set(roles), new Set(['guest', 'admin']));
    assert.equal(typeof (warnings[0] as { auth: { expiresAt: unknown } }).auth.expiresAt, 'number');
  }
  assert.deepEqual(clients[1]?.answers[0], undefined, 'the token does not come back');
});

test('a fresh token without a right ends the subscriptions that need it, and no others', async (t) => {
  const gateway = await gatewayOf();
  let role = 'admin';
  const fresh = (): Promise<string> => signToken({ sub: 'ann', role });
  const { options, send } = refreshing(await fresh(), fresh);
  const client = graphqlClient(t, gateway.graphqlUrl, options);
  const sealed = new Received<{ sealed_bid: { n: number } }>(client, 'subscription { sealed_bid { n } }');
  const open = new Received<{ bid: { n: number } }>(client, 'subscription { bid { n role } }');
  await gateway.untilMetric('sluice_subscribers', 2);
  await gateway.postEvent('bids', { n: 1 });
  await sealed.until(1);
  role = 'guest';
  await send();
  assert.deepEqual(JSON.parse(JSON.stringify(await sealed.untilEnd())), [
    { message: 'The viewer may not use Subscription.sealed_bid.', extensions: { code: 'FORBIDDEN' } },
  ]);
  await gateway.postEvent('bids', { n: 2 });
  await open.until(2);
  assert.deepEqual(open.data, [{ bid: { n: 1, role: 'admin' } }, { bid: { n: 2, role: 'guest' } }]);
  assert.equal(sealed.data.length, 1);
});

test('a client that sends no fresh token is warned, and closed with 4403 when the grace period is over', async (t) => {
  const gateway = await gatewayOf();
  // On a machine that stands still a token may expire before it has come to the gateway.
  for (let seconds = 5; seconds < 100; seconds *= 2) {
    const token = await signToken({ sub: 'ann' }, seconds);
    const { options, warnings } = refreshing(token, async () => undefined);
    const received = new Received(
      graphqlClient(t, gateway.graphqlUrl, options),
      'subscription { bid { n } }',
    );
    const end = await received.untilClosed();
    if (end === '4403 The token has expired') continue;
    assert.match(end, /^4403 The token expired at \d{4}-\d\d-\d\dT\S+Z, and no fresh one came$/);
    assert.equal(warnings.length, 1);
    return;
  }
  assert.fail('expected to be let in with a token that expires in minutes');
});

test('a fresh token of another identity, or one that is not valid, closes the socket with 4403', async (t) => {
  const gateway = await gatewayOf();
  for (const [fresh, reason] of [
    [await signToken({ sub: 'bob' }), 'The fresh token is of another identity: connect again with it'],
    [await signToken({ sub: 'ann' }, -5), 'The token has expired'],
  ] as const) {
    const { options, send } = refreshing(await signToken({ sub: 'ann' }), async () => fresh);
    const client = graphqlClient(t, gateway.graphqlUrl, options);
    const received = new Received(client, 'subscription { bid { n } }');
    await gateway.untilMetric('sluice_subscribers', 1);
    await send();
    assert.equal(await received.untilClosed(), `4403 ${reason}`);
    await gateway.untilMetric('sluice_connections', 0);
  }
});

test('a viewer that is revoked is closed and refused until it has a token that was issued since; others notice nothing', async (t) => {
  const gateway = await gatewayOf();
  const token = await signToken({ sub: '42', role: 'guest' });
  const other = await signToken({ sub: '43', role: 'guest' });
  const [one, another, bystander] = [token, token, other].map((own) =>
    asking(t, gateway, 'subscription { bid { n } }', { token: own }),
  ) as [Received, Received, Received];
  await gateway.untilMetric('sluice_subscribers', 3);

  await revoke(gateway, 'id', 42);
  for (const received of [one, another])
    assert.equal(await received.untilClosed(), '4403 Access was revoked');
  await gateway.postEvent('bids', { n: 1 });
  await bystander.until(1);
  assert.equal(bystander.end, undefined);
  assert.equal(await gateway.metric('sluice_closes_total{code="4403",reason="revoked"}'), 2);
  assert.equal(await gateway.metric('sluice_revocations_total'), 1);
  const refused = '4403 Access was revoked: a token that was issued since is needed';
  assert.equal(await answer(t, gateway, { connectionParams: { token } }), refused);
  // Tokens tell seconds: one of the second of the revocation may be from before it.
  await eventually(async () => {
    const since = await signToken({ sub: '42' });
    assert.deepEqual(await answer(t, gateway, { connectionParams: { token: since } }), { id: '42' });
  });

  for (const [asked, status, type = 'application/json'] of [
    [{ path: 'id' }, 400],
    [{ path: '', value: '42' }, 400],
    [{ path: 'id', value: { x: 1 } }, 400],
    [{ path: 'id', value: '42', all: true }, 400],
    [[], 400],
    [{ path: 'id', value: '42' }, 415, 'text/plain'],
  ] as [unknown, number, string?][]) {
    const answered = await postJson(`${gateway.adminUrl}/revoke`, asked, { 'content-type': type });
    assert.equal(answered.status, status, JSON.stringify(asked));
  }
});
