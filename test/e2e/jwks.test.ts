import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connect } from '../helpers/raw-socket.ts';

const OUT_OF_REACH = 'The keys that tokens are verified with are out of reach';

/** A key of an issuer, and a token that is signed with it. */
async function issuerKey(kid: string): Promise<{ jwk: JWK; token: string }> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({ sub: kid, aud: 'sluice' })
    .setExpirationTime('1h')
    .setProtectedHeader({ alg: 'ES256', kid })
    .sign(privateKey);
  return { jwk: { ...(await exportJWK(publicKey)), kid }, token };
}

/** A server of keys that is away until the test says otherwise. */
async function keyServer(t: TestContext): Promise<{ url: string; keys: JWK[] | undefined }> {
  const http = createServer((_request, response) => {
    if (server.keys === undefined) response.destroy();
    else response.end(JSON.stringify({ keys: server.keys }));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  const server = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/keys`,
    keys: undefined as JWK[] | undefined,
  };
  return server;
}

/** What a client with this token gets: 'acknowledged', or how its socket is closed. */
async function overWebSocket(t: TestContext, gateway: GatewayProcess, token: string): Promise<unknown> {
  const socket = await connect(t, gateway.graphqlUrl);
  socket.send({ type: 'connection_init', payload: { token } });
  const acknowledged = socket.until(({ type }) => type === 'connection_ack').then(() => 'acknowledged');
  return Promise.race([socket.closed, acknowledged.catch(() => socket.closed)]);
}

function overHttp(gateway: GatewayProcess, token: string): Promise<Response> {
  return fetch(`${gateway.httpUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"query":"{ __typename }"}',
  });
}

test('while the keys of tokens are out of reach, clients are told to try again, unless their key is known', async (t) => {
  const one = await issuerKey('one');
  const server = await keyServer(t);
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await startGateway(t, {
    GRAPH: folder,
    AUTH_JWKS_URL: server.url,
    AUTH_AUDIENCE: 'sluice',
  });
  const assertRefused = async (token: string): Promise<void> => {
    assert.deepEqual(await overWebSocket(t, gateway, token), { code: 1013, reason: OUT_OF_REACH });
    const response = await overHttp(gateway, token);
    assert.equal(response.status, 503);
    assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
    assert.deepEqual(await response.json(), {
      errors: [{ message: OUT_OF_REACH, extensions: { code: 'SERVICE_UNAVAILABLE' } }],
    });
  };

  await assertRefused(one.token);
  await assertRefused(one.token);
  assert.equal(await gateway.metric('sluice_refusals_total{reason="keys_unavailable"}'), 4);
  assert.equal(await gateway.metric('sluice_closes_total{code="1013",reason="keys_unavailable"}'), 2);

  server.keys = [one.jwk];
  await gateway.untilReady();
  assert.equal(await overWebSocket(t, gateway, one.token), 'acknowledged');

  server.keys = undefined;
  const known = await overHttp(gateway, one.token);
  assert.equal(known.status, 200);
  assert.deepEqual(await known.json(), { data: { __typename: 'Query' } });
  assert.equal(await overWebSocket(t, gateway, one.token), 'acknowledged');
  assert.equal((await overHttp(gateway, 'nonsense')).status, 401);
  await gateway.stop();
  const logged = gateway.lines.filter(({ msg }) => msg.startsWith('a client was refused for now'));
  assert.equal(logged.length, 1);
});
