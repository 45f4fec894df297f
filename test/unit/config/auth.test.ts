import assert from 'node:assert/strict';
import test from 'node:test';
import { describeConfig, loadConfig } from '../../../src/config/config.ts';
import { faultsOf, warningsOf } from './refused.ts';

const AUTH_SECRET = 'a secret of at least thirty-two bytes';
const AUTH_JWKS_URL = 'https://login.example/keys';

const CONTRADICTIONS: readonly [Record<string, string>, string][] = [
  [{ AUTH_SECRET, AUTH_JWKS_URL }, 'AUTH_SECRET, AUTH_JWKS_URL: expected one of them, got 2'],
  [
    { AUTH_AUDIENCE: 'a', AUTH_ANONYMOUS: 'true' },
    'AUTH_SECRET, AUTH_PUBLIC_KEY, AUTH_JWKS_URL: expected one of them, as AUTH_AUDIENCE and AUTH_ANONYMOUS is set, got none',
  ],
  [
    { AUTH_SECRET, AUTH_ALGORITHMS: 'HS256,RS256' },
    'AUTH_ALGORITHMS: expected HS256, HS384, HS512, as AUTH_SECRET is set, got RS256',
  ],
  [
    { AUTH_JWKS_URL, AUTH_ALGORITHMS: 'HS256' },
    'AUTH_ALGORITHMS: expected RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, as AUTH_JWKS_URL is set, got HS256',
  ],
  [
    { AUTH_JWKS_URL: 'https://:short@login.example/keys' },
    'AUTH_JWKS_URL: expected no user name and no password, got some',
  ],
  [{ AUTH_SECRET: 'short' }, 'AUTH_SECRET: expected at least 32 bytes, got fewer'],
  [
    { AUTH_SECRET, AUTH_SECRET_PREVIOUS: 'short' },
    'AUTH_SECRET_PREVIOUS: expected at least 32 bytes, got fewer',
  ],
  [
    { AUTH_JWKS_URL, AUTH_SECRET_PREVIOUS: AUTH_SECRET },
    'AUTH_SECRET: expected one, as AUTH_SECRET_PREVIOUS is set, got none',
  ],
  [
    { AUTH_SECRET, AUTH_COOKIE: 'session', ORIGINS: '*' },
    'ORIGINS: expected the origins of your pages, as AUTH_COOKIE is set and browsers send cookies for any page, got *',
  ],
];

test('settings of authentication that contradict each other are refused, and no secret is shown', () => {
  for (const [env, message] of CONTRADICTIONS) {
    const faults = faultsOf(env).join('\n');
    assert.ok(faults.includes(message), faults);
    assert.ok(!faults.includes(AUTH_SECRET) && !faults.includes('short'));
  }
});

test('algorithms that do not exist, none among them, are refused', () => {
  for (const algorithms of ['none', 'HS256,none', 'hs256', ',']) {
    assert.throws(
      () => loadConfig({ AUTH_SECRET, AUTH_ALGORITHMS: algorithms }),
      /AUTH_ALGORITHMS: expected one or several/,
    );
  }
  assert.deepEqual(loadConfig({ AUTH_SECRET, AUTH_ALGORITHMS: 'HS512, HS256' }).AUTH_ALGORITHMS, [
    'HS256',
    'HS512',
  ]);
});

test('claims are names, or properties with the claims that they are of', () => {
  const { AUTH_CLAIMS } = loadConfig({ AUTH_SECRET, AUTH_CLAIMS: 'id=sub, role,x=https://a.example/b' });
  assert.deepEqual(AUTH_CLAIMS, ['id=sub', 'role', 'x=https://a.example/b']);
  for (const claims of ['=sub', 'id=', 'a.b', 'a b']) {
    assert.throws(() => loadConfig({ AUTH_SECRET, AUTH_CLAIMS: claims }), /AUTH_CLAIMS: expected claims/);
  }
});

test('the secret is not printed with the settings', () => {
  const printed = describeConfig(loadConfig({ AUTH_SECRET, AUTH_SECRET_PREVIOUS: AUTH_SECRET }));
  assert.match(printed, /AUTH_SECRET=\(secret\)[^]*AUTH_SECRET_PREVIOUS=\(secret\)/);
  assert.ok(!printed.includes(AUTH_SECRET));
});

const algorithmsPrinted = (env: Record<string, string>): string | undefined =>
  /^AUTH_ALGORITHMS=.*$/m.exec(describeConfig(loadConfig(env)))?.[0];

test('the algorithms in effect are printed with the settings', () => {
  assert.equal(algorithmsPrinted({ AUTH_SECRET }), 'AUTH_ALGORITHMS=HS256');
  assert.equal(algorithmsPrinted({ AUTH_JWKS_URL }), 'AUTH_ALGORITHMS=RS256,ES256,EdDSA');
  assert.equal(algorithmsPrinted({ AUTH_JWKS_URL, AUTH_ALGORITHMS: 'PS256' }), 'AUTH_ALGORITHMS=PS256');
  assert.equal(algorithmsPrinted({}), 'AUTH_ALGORITHMS=');
});

test('keys of a URL without an audience, or without TLS, are warned of', () => {
  assert.deepEqual(warningsOf({ AUTH_JWKS_URL, AUTH_AUDIENCE: 'gateway' }), []);
  assert.deepEqual(warningsOf({ AUTH_JWKS_URL: 'http://login.example/keys' }), [
    'AUTH_JWKS_URL without https: others on the network can replace the keys',
    'AUTH_JWKS_URL without AUTH_AUDIENCE: tokens that were issued for other services are accepted',
  ]);
});
