import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { connect } from '../helpers/raw-socket.ts';
import { startItems } from './graph-gateway.ts';
import { serveHttp } from '../helpers/local-server.ts';

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

/** What a client with this token gets: 'acknowledged', or how its socket is closed. */
async function overWebSocket(t: TestContext, gateway: GatewayProcess, token: string): Promise<unknown> {
  const socket = await connect(t, gateway.graphqlUrl);
  socket.send({ type: 'connection_init', payload: { token } });
  const acknowledged = socket.until(({ type }) => type === 'connection_ack').then(() => 'acknowledged');
  return Promise.race([socket.closed, acknowledged.catch(() => socket.closed)]);
}

const overHttp = ({ httpUrl }: GatewayProcess, token: string) =>
  postJson(`${httpUrl}/graphql`, { query: '{ __typename }' }, { authorization: `Bearer ${token}` });

test('while the keys of tokens are out of reach, clients are told to try again, unless their key is known', async (t) => {
  const one = await issuerKey('one');
  /** Undefined: their server is away. */
  let keys: JWK[] | undefined;
  const url = await serveHttp(t, (_request, response) => {
    if (keys === undefined) response.destroy();
    else response.end(JSON.stringify({ keys }));
  });
  const gateway = await startItems(t, { AUTH_JWKS_URL: `${url}/keys`, AUTH_AUDIENCE: 'sluice' });
  const assertRefused = async (token: string): Promise<void> => {
    assert.deepEqual(await overWebSocket(t, gateway, token), { code: 1013, reason: OUT_OF_REACH });
    const response = await overHttp(gateway, token);
    assert.equal(response.status, 503);
    assert.match(response.headers['retry-after'] ?? '', /^\d+$/);
    assert.deepEqual(JSON.parse(response.body), {
      errors: [{ message: OUT_OF_REACH, extensions: { code: 'SERVICE_UNAVAILABLE' } }],
    });
  };

  await assertRefused(one.token);
  await assertRefused(one.token);
  assert.equal(await gateway.metric('sluice_refusals_total{reason="keys_unavailable"}'), 4);
  assert.equal(await gateway.metric('sluice_closes_total{code="1013",reason="keys_unavailable"}'), 2);

  keys = [one.jwk];
  await gateway.untilReady();
  assert.equal(await overWebSocket(t, gateway, one.token), 'acknowledged');

  keys = undefined;
  const known = await overHttp(gateway, one.token);
  assert.equal(known.status, 200);
  assert.deepEqual(JSON.parse(known.body), { data: { __typename: 'Query' } });
  assert.equal(await overWebSocket(t, gateway, one.token), 'acknowledged');
  assert.equal((await overHttp(gateway, 'nonsense')).status, 401);
  await gateway.stop();
  const logged = gateway.lines.filter(({ msg }) => msg.startsWith('a client was refused for now'));
  assert.equal(logged.length, 1);
});
