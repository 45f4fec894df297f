import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { decodeJwt } from 'jose';
import { issueToken } from '../../../../../src/ingest/kafka/credentials/client-credentials.ts';
import { freePort } from '../../../../helpers/free-port.ts';
import { TokenIssuer } from '../../../../helpers/token-issuer.ts';

const NOW = Date.now();

const optionsOf = (url: string) => ({
  url,
  clientId: 'gateway',
  clientSecret: () => 'open:sesame',
  clientAuth: 'basic' as const,
  scope: undefined,
  audience: undefined,
  now: () => NOW,
});

async function answering(t: TestContext, status: number, body: string) {
  const issuer = await TokenIssuer.start(t);
  issuer.failure = { status, body };
  return optionsOf(issuer.tokenUrl);
}

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
  const opaque = await issueToken(await answering(t, 200, '{"access_token":"opaque"}'));
  assert.deepEqual(opaque, { value: 'opaque', expiresAt: NOW });
  const endless = '{"access_token":"opaque","expires_in":1e999}';
  assert.deepEqual(await issueToken(await answering(t, 200, endless)), opaque);
  const { expiresAt } = await issueToken(await answering(t, 200, JSON.stringify({ access_token: token })));
  assert.equal(expiresAt, Number(decodeJwt(token).exp) * 1_000);
});

test('an error says what came, not the secret, and whether the endpoint may answer the next time', async (t) => {
  const closed = `http://localhost:${await freePort()}/token`;
  const long = JSON.stringify({ error: 'x'.repeat(1_000) });
  for (const [options, message, retriable] of [
    [await answering(t, 503, '<html>'), /, got status 503$/, true],
    [await answering(t, 429, '{"error":"slow_down"}'), /, got status 429, slow_down$/, true],
    [await answering(t, 400, '{"error":"invalid_scope"}'), /, got status 400, invalid_scope$/, false],
    [await answering(t, 400, '{"error":"no client has open:sesame"}'), /, no client has …$/, false],
    [await answering(t, 400, '{"error":"got open%3Asesame"}'), /, got status 400, got …$/, false],
    [await answering(t, 400, long), /, got status 400, x{280,300}…$/, false],
    [await answering(t, 302, ''), /, got status 302$/, false],
    [await answering(t, 200, '<html>'), /, got an answer without access_token$/, false],
    [await answering(t, 200, '{"access_token":"a","token_type":"mac"}'), /, got one of type mac$/, false],
    [await answering(t, 200, ' '.repeat(300_000)), /, got expected at most 262144 bytes, got more$/, true],
    [optionsOf(closed), /, got .*ECONNREFUSED/, true],
  ] as const) {
    await assert.rejects(issueToken(options), (error: Error & { retriable?: boolean }) => {
      assert.match(error.message, /^KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got /);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /sesame/);
      assert.equal(error.retriable, retriable, error.message);
      return true;
    });
  }
});
