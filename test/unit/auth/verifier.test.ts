import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import test from 'node:test';
import { SignJWT, type JWTPayload } from 'jose';
import { changingSecret, fixedKey, publicKey } from '../../../src/auth/keys.ts';
import { TokenRefusal } from '../../../src/auth/refusal.ts';
import { TokenVerifier, type VerifierOptions } from '../../../src/auth/verifier.ts';
import { createLog } from '../../../src/log.ts';

const NOW = 1_700_000_000;
const SECRET = Buffer.from('a secret of at least thirty-two bytes');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();

const verifierOf = (options: Partial<VerifierOptions> = {}): TokenVerifier =>
  new TokenVerifier({
    keys: fixedKey(SECRET),
    algorithms: ['HS256'],
    issuers: [],
    audiences: [],
    toleranceSeconds: 0,
    now: () => NOW * 1000,
    log: createLog('silent'),
    ...options,
  });

const sign = (claims: JWTPayload, alg = 'HS256', key: KeyObject | Uint8Array = SECRET): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg }).sign(key);

async function verified(verifier: TokenVerifier, token: string | Promise<string>): Promise<unknown> {
  const result = await verifier.verify(await token);
  return result instanceof TokenRefusal ? result.reason : result.claims;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const VALID = { sub: 'ann', exp: NOW + 60 };

test('a token that is signed with the secret gives its claims, deep-frozen', async () => {
  const token = await verifierOf().verify(await sign({ ...VALID, iat: NOW, org: { id: 7 } }));
  assert.ok(!(token instanceof TokenRefusal));
  assert.deepEqual(token, {
    claims: { sub: 'ann', exp: NOW + 60, iat: NOW, org: { id: 7 } },
    issuer: undefined,
    subject: 'ann',
    issuedAt: NOW,
    expiresAt: NOW + 60,
  });
  assert.ok(Object.isFrozen(token.claims) && Object.isFrozen(token.claims['org']));
});

test('while a secret is changed, tokens of the new one and of the one before are taken, and no others', async () => {
  const [next, other] = ['the next', 'another'].map((name) =>
    Buffer.from(`${name} secret of at least 32 bytes`),
  );
  assert.ok(next !== undefined && other !== undefined);
  const verifier = verifierOf({ keys: changingSecret(next, SECRET) });
  assert.deepEqual(await verified(verifier, sign(VALID, 'HS256', next)), VALID);
  assert.deepEqual(await verified(verifier, sign(VALID)), VALID);
  assert.equal(await verified(verifier, sign(VALID, 'HS256', other)), "The token's signature is wrong");
  const byOther = sign(VALID, 'HS512', next);
  assert.equal(await verified(verifier, byOther), 'The token is signed by an algorithm that is not allowed');
  assert.equal(
    await verified(verifier, sign({ sub: 'ann', exp: NOW - 5 }, 'HS256', next)),
    'The token has expired',
  );
});

test('times count by the tolerance, and a token must expire', async () => {
  const strict = verifierOf();
  const expired = { sub: 'ann', exp: NOW - 5 };
  assert.equal(await verified(strict, sign(expired)), 'The token has expired');
  assert.deepEqual(await verified(verifierOf({ toleranceSeconds: 10 }), sign(expired)), expired);
  assert.equal(await verified(strict, sign({ sub: 'ann' })), "The token's claim exp is missing");
  const early = sign({ ...VALID, nbf: NOW + 5 });
  assert.equal(await verified(strict, early), "The token's claim nbf is not as expected");
});

test('issuer and audience must be among those that are expected', async () => {
  const verifier = verifierOf({ issuers: ['a', 'b'], audiences: ['gateway'] });
  const claims = { ...VALID, iss: 'b', aud: ['other', 'gateway'] };
  assert.deepEqual(await verified(verifier, sign(claims)), claims);
  for (const [wrong, what] of [
    [{ ...claims, iss: 'c' }, 'iss is not as expected'],
    [{ ...claims, aud: 'other' }, 'aud is not as expected'],
    [{ ...VALID, iss: 'b' }, 'aud is missing'],
  ] as const) {
    assert.equal(await verified(verifier, sign(wrong)), `The token's claim ${what}`);
  }
});

test('algorithms that are not allowed are refused, none among them', async () => {
  const refused = 'The token is signed by an algorithm that is not allowed';
  for (const alg of ['none', 'None', 'NONE']) {
    assert.equal(await verified(verifierOf(), `${encode({ alg })}.${encode(VALID)}.`), refused);
  }
  assert.equal(await verified(verifierOf(), sign(VALID, 'HS512')), refused);
  assert.equal(await verified(verifierOf({ algorithms: ['HS512'] }), sign(VALID)), refused);
});

test('a public key never verifies what was signed with its text as a secret', async () => {
  const text = `${encode({ alg: 'HS256' })}.${encode(VALID)}`;
  for (const secret of [pem, pem.trim(), rsa.publicKey.export({ type: 'spki', format: 'der' })]) {
    const forged = `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    const keys = fixedKey(publicKey(pem));
    for (const [other, refusal] of [
      ['ES256', 'an algorithm that is not allowed'],
      // Though it were allowed.
      ['HS256', 'a key that is not known'],
    ] as const) {
      const verifier = verifierOf({ keys, algorithms: ['RS256', other] });
      assert.equal(await verified(verifier, forged), `The token is signed by ${refusal}`);
    }
  }
});

test('a public key is read from PEM or from a JWK, and fits its own algorithms only', async () => {
  const algorithms = ['RS256', 'PS256', 'ES256'];
  const jwk = JSON.stringify(ec.publicKey.export({ format: 'jwk' }));
  const byRsa = verifierOf({ keys: fixedKey(publicKey(pem)), algorithms });
  const byEc = verifierOf({ keys: fixedKey(publicKey(jwk)), algorithms });
  assert.deepEqual(await verified(byRsa, sign(VALID, 'RS256', rsa.privateKey)), VALID);
  assert.deepEqual(await verified(byRsa, sign(VALID, 'PS256', rsa.privateKey)), VALID);
  assert.deepEqual(await verified(byEc, sign(VALID, 'ES256', ec.privateKey)), VALID);
  const unknown = 'The token is signed by a key that is not known';
  assert.equal(await verified(byEc, sign(VALID, 'RS256', rsa.privateKey)), unknown);
  assert.equal(await verified(byRsa, sign(VALID, 'ES256', ec.privateKey)), unknown);
});

test('a file with a secret key, or with none, is refused without being shown', () => {
  const secrets = [
    rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    JSON.stringify(ec.privateKey.export({ format: 'jwk' })),
    '{"kty": "oct", "k": "c2VjcmV0"}',
  ];
  for (const text of secrets) {
    assert.throws(() => publicKey(text), {
      code: 'BAD_SETTINGS',
      message: 'AUTH_PUBLIC_KEY: expected a file with a public key, as PEM or as JWK, got a secret one',
    });
  }
  assert.throws(() => publicKey('{"kty": '), /got text that begins like JSON and is none/);
  assert.throws(() => publicKey('hello'), /got something else: /);
});

test('a token that is longer than a header may be is refused before any of it is decoded', async () => {
  const long = await sign({ ...VALID, pad: 'x'.repeat(12_400) });
  assert.equal(
    await verified(verifierOf(), long),
    `Expected a token of at most 16384 characters, got ${long.length}`,
  );
  const shorter = { ...VALID, pad: 'x'.repeat(12_000) };
  assert.deepEqual(await verified(verifierOf(), sign(shorter)), shorter);
});

test('claims that are nested too deeply, or text that is no token, are refused', async () => {
  let deep: unknown = 1;
  for (let level = 0; level < 40; level += 1) deep = [deep];
  const nested = sign({ ...VALID, deep });
  assert.equal(await verified(verifierOf(), nested), "The token's claims are nested too deeply");
  for (const text of ['', 'a.b.c', 'a', '..', 'é.é.é']) {
    assert.equal(await verified(verifierOf(), text), 'The token is malformed');
  }
});
