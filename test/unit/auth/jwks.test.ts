import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { Jwks } from '../../../src/auth/jwks.ts';
import { TokenRefusal } from '../../../src/auth/refusal.ts';
import { TokenVerifier } from '../../../src/auth/verifier.ts';
import { createLog } from '../../../src/log.ts';
import { eventually } from '../../helpers/eventually.ts';
import { serveHttp } from '../../helpers/local-server.ts';
import { FakeClock } from '../support/fake-clock.ts';

const UNKNOWN = 'The token is signed by a key that is not known';
const OUT_OF_REACH = 'The keys that tokens are verified with are out of reach';

/** A key of an issuer, and tokens that are signed with it. */
async function issuerKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid };
  const token = await new SignJWT({ sub: kid })
    .setExpirationTime('1h')
    .setProtectedHeader({ alg: 'ES256', kid })
    .sign(privateKey);
  return { jwk, token };
}

/** A server of keys, and a gateway's view of it. Time stands still until the test moves it. */
async function setUp(t: TestContext) {
  const server = { keys: [] as JWK[], requests: 0, respond: true, status: 200 };
  const origin = await serveHttp(t, (_request, response) => {
    server.requests += 1;
    if (!server.respond) response.destroy();
    else response.writeHead(server.status).end(JSON.stringify({ keys: server.keys }));
  });
  const clock = Object.assign(new FakeClock(), { patience: 0, chance: 0 });
  let failures = 0;
  const jwks = new Jwks({
    url: `${origin}/keys`,
    clock,
    log: createLog('silent'),
    onFailure: () => (failures += 1),
  });
  t.after(() => jwks.stop());
  const verifier = new TokenVerifier({
    keys: jwks,
    algorithms: ['ES256'],
    issuers: [],
    audiences: [],
    toleranceSeconds: 0,
    now: Date.now,
    log: createLog('silent'),
  });
  const verify = async (token: string): Promise<unknown> => {
    const result = await verifier.verify(token);
    return result instanceof TokenRefusal ? result.reason : result.claims['sub'];
  };
  const start = async (): Promise<void> => {
    jwks.start();
    await eventually(() => assert.equal(jwks.notReady(), undefined));
  };
  return { server, jwks, verify, pass: (ms: number) => clock.advance(ms), start, failures: () => failures };
}

test('keys are fetched once for any number of tokens, and the pod is not ready before', async (t) => {
  const { server, jwks, verify, start } = await setUp(t);
  const one = await issuerKey('one');
  server.keys = [one.jwk];
  assert.equal(jwks.notReady(), 'the keys of AUTH_JWKS_URL have not been fetched yet');
  await start();
  const subjects = await Promise.all(Array(3).fill(one.token).map(verify));
  assert.deepEqual(subjects, ['one', 'one', 'one']);
  assert.equal(server.requests, 1);
});

test('a token that names a new key has the keys fetched at once, but unknown keys no more often than every 10 s', async (t) => {
  const { server, verify, pass, start } = await setUp(t);
  const [one, two, foreign] = [await issuerKey('one'), await issuerKey('two'), await issuerKey('foreign')];
  server.keys = [one.jwk];
  await start();
  server.keys = [one.jwk, two.jwk];
  assert.equal(await verify(two.token), UNKNOWN);
  pass(10_000);
  assert.deepEqual(await Promise.all([verify(two.token), verify(two.token)]), ['two', 'two']);
  assert.equal(server.requests, 2);
  for (let attempt = 0; attempt < 20; attempt += 1) assert.equal(await verify(foreign.token), UNKNOWN);
  assert.equal(server.requests, 2);
});

test('a key that the issuer takes away is refused once the keys are fetched again', async (t) => {
  const { server, verify, pass, start } = await setUp(t);
  const [one, two] = [await issuerKey('one'), await issuerKey('two')];
  server.keys = [one.jwk, two.jwk];
  await start();
  server.keys = [two.jwk];
  assert.equal(await verify(one.token), 'one');
  pass(300_000);
  await eventually(async () => assert.equal(await verify(one.token), UNKNOWN));
  assert.equal(await verify(two.token), 'two');
});

test('while the server of the keys is out of reach, those that were fetched stay in use', async (t) => {
  const { server, jwks, verify, pass, start, failures } = await setUp(t);
  const [one, two] = [await issuerKey('one'), await issuerKey('two')];
  server.keys = [one.jwk];
  await start();
  server.respond = false;
  pass(300_000);
  await eventually(() => assert.equal(failures(), 1));
  assert.equal(await verify(one.token), 'one');
  // Soon after an attempt that has failed, too.
  assert.equal(await verify(two.token), OUT_OF_REACH);
  pass(10_000);
  for (let attempt = 0; attempt < 3; attempt += 1) assert.equal(await verify(two.token), OUT_OF_REACH);
  assert.equal(await verify(one.token), 'one');
  assert.equal(jwks.notReady(), undefined);
  server.respond = true;
  server.status = 500;
  pass(10_000);
  assert.equal(await verify(two.token), OUT_OF_REACH);
  server.status = 200;
  server.keys = [one.jwk, two.jwk];
  pass(10_000);
  await eventually(async () => assert.equal(await verify(two.token), 'two'));
});

test('before the keys have been fetched, a token is refused for the time being', async (t) => {
  const { server, verify } = await setUp(t);
  const one = await issuerKey('one');
  server.respond = false;
  // And none of them makes the keys be fetched that comes soon after another.
  for (let attempt = 0; attempt < 5; attempt += 1) assert.equal(await verify(one.token), OUT_OF_REACH);
  assert.equal(server.requests, 1);
});
