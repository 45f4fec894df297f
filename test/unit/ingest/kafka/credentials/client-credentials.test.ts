import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeJwt } from 'jose';
import { issueToken } from '../../../../../src/ingest/kafka/credentials/client-credentials.ts';
import { freePort } from '../../../../helpers/free-port.ts';
import { TokenIssuer } from '../../../../helpers/token-issuer.ts';

const NOW = Date.now();

const optionsOf = (url: string) => ({
  setting: 'KAFKA_OAUTH_TOKEN_URL',
  url,
  clientId: 'gateway',
  clientSecret: () => 'open:sesame',
  clientAuth: 'basic' as const,
  scope: undefined,
  audience: undefined,
  timeoutMs: 60_000,
  now: () => NOW,
});

test('a token is asked for with scope and audience, and is valid for as long as the endpoint says', async (t) => {
  const issuer = await TokenIssuer.start(t);
  issuer.claims = { lifeSeconds: 300 };
  const options = { ...optionsOf(issuer.tokenUrl), scope: 'a b', audience: 'kafka' };
  const { value, expiresAt } = await issueToken(options);
  assert.match(value, /^eyJ/);
  assert.equal(expiresAt, NOW + 300_000);
  const [request] = issuer.requests;
  assert.deepEqual(request?.form, { grant_type: 'client_credentials', scope: 'a b', audience: 'kafka' });
  assert.equal(request.authorization, `Basic ${Buffer.from('gateway:open%3Asesame').toString('base64')}`);
});

test('an endpoint that does not say how long a token is valid leaves that to the token', async (t) => {
  const issuer = await TokenIssuer.start(t);
  const token = await issuer.sign({ lifeSeconds: 600 });
  const expiresAt = Number(decodeJwt(token).exp) * 1_000;
  for (const [body, expected] of [
    ['{"access_token":"opaque"}', { value: 'opaque', expiresAt: NOW }],
    ['{"access_token":"opaque","expires_in":1e999}', { value: 'opaque', expiresAt: NOW }],
    [JSON.stringify({ access_token: token }), { value: token, expiresAt }],
  ] as const) {
    issuer.failure = { status: 200, body };
    assert.deepEqual(await issueToken(optionsOf(issuer.tokenUrl)), expected);
  }
});

test('an error says what came, not the secret, and whether the endpoint may answer the next time', async (t) => {
  const issuer = await TokenIssuer.start(t);
  const long = JSON.stringify({ error: 'x'.repeat(1_000) });
  for (const [status, body, message, retriable] of [
    [503, '<html>', /, got status 503$/, true],
    [429, '{"error":"slow_down"}', /, got status 429, slow_down$/, true],
    [400, '{"error":"invalid_scope"}', /, got status 400, invalid_scope$/, false],
    [400, '{"error":"no client has open:sesame"}', /, no client has …$/, false],
    [400, '{"error":"got open%3Asesame"}', /, got status 400, got …$/, false],
    [400, long, /, got status 400, x{280,300}…$/, false],
    [302, '', /, got status 302$/, false],
    [200, '<html>', /, got an answer without access_token$/, false],
    [200, '{"access_token":"a","token_type":"mac"}', /, got one of type mac$/, false],
    [200, ' '.repeat(300_000), /, got expected at most 262144 bytes, got more$/, true],
  ] as const) {
    issuer.failure = { status, body };
    await isRefused(issuer.tokenUrl, message, retriable);
  }
  await isRefused(`http://127.0.0.1:${await freePort()}/token`, /, got .*ECONNREFUSED/, true);
});

async function isRefused(url: string, message: RegExp, retriable: boolean): Promise<void> {
  await assert.rejects(issueToken(optionsOf(url)), (error: Error & { retriable?: boolean }) => {
    assert.match(error.message, /^KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got /);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /sesame/);
    assert.equal(error.retriable, retriable, error.message);
    return true;
  });
}
