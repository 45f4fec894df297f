import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfig, loadConfig } from '../../../src/config/config.ts';
import { assertRefused, faultsOf } from './refused.ts';

const URLS = { SCHEMA_REGISTRY_URL: 'https://one:8081, https://two/path' };
const USER = { ...URLS, SCHEMA_REGISTRY_USERNAME: 'gateway' };
const OAUTH = {
  ...URLS,
  SCHEMA_REGISTRY_OAUTH_TOKEN_URL: 'https://issuer/token',
  SCHEMA_REGISTRY_OAUTH_CLIENT_ID: 'gateway',
  SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET_FILE: '/run/secrets/registry',
};

test('a schema registry has one or several URLs, which hold no credentials', () => {
  assert.deepEqual(loadConfig(URLS).SCHEMA_REGISTRY_URL, ['https://one:8081', 'https://two/path']);
  for (const url of ['one:8081', 'kafka://one', 'https://user:open@one', 'https://one,two']) {
    const [fault = ''] = faultsOf({ SCHEMA_REGISTRY_URL: url });
    assert.match(fault, /SCHEMA_REGISTRY_URL: expected http:\/\/ or https:\/\/ URLs without credentials/);
  }
});

test('who asks the registry is said in one way', () => {
  assert.deepEqual(faultsOf({ ...USER, SCHEMA_REGISTRY_PASSWORD: 'open sesame' }), []);
  assert.deepEqual(faultsOf({ ...URLS, SCHEMA_REGISTRY_TOKEN_FILE: '/run/secrets/token' }), []);
  assert.deepEqual(faultsOf(OAUTH), []);
  assertRefused(USER, [
    'SCHEMA_REGISTRY_PASSWORD, SCHEMA_REGISTRY_PASSWORD_FILE: expected one of them, as SCHEMA_REGISTRY_USERNAME is set, got 0',
  ]);
  assertRefused({ ...URLS, SCHEMA_REGISTRY_PASSWORD: 'open sesame' }, [
    'SCHEMA_REGISTRY_USERNAME: expected a value, as SCHEMA_REGISTRY_PASSWORD is set, got nothing',
  ]);
  assertRefused({ ...OAUTH, SCHEMA_REGISTRY_TOKEN_FILE: '/run/secrets/token' }, [
    'SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_TOKEN_FILE, SCHEMA_REGISTRY_OAUTH_TOKEN_URL: expected one of them, got SCHEMA_REGISTRY_TOKEN_FILE and SCHEMA_REGISTRY_OAUTH_TOKEN_URL',
  ]);
  assertRefused({ ...OAUTH, SCHEMA_REGISTRY_OAUTH_CLIENT_ID: '' }, [
    'SCHEMA_REGISTRY_OAUTH_CLIENT_ID: expected one of them, as SCHEMA_REGISTRY_OAUTH_TOKEN_URL is set, got 0',
  ]);
  assertRefused({ ...URLS, SCHEMA_REGISTRY_OAUTH_SCOPE: 'a' }, [
    'SCHEMA_REGISTRY_OAUTH_TOKEN_URL: expected a value, as SCHEMA_REGISTRY_OAUTH_SCOPE is set, got nothing',
  ]);
});

test('a certificate has a key, and each needs a registry', () => {
  const pair = { SCHEMA_REGISTRY_CERT: 'cert.pem', SCHEMA_REGISTRY_KEY: 'key.pem' };
  assert.deepEqual(faultsOf({ ...URLS, ...pair, SCHEMA_REGISTRY_CA: 'ca.pem' }), []);
  assertRefused({ ...URLS, SCHEMA_REGISTRY_CERT: 'cert.pem' }, [
    'SCHEMA_REGISTRY_KEY: expected one of them, as SCHEMA_REGISTRY_CERT is set, got 0',
  ]);
  assertRefused(pair, ['SCHEMA_REGISTRY_URL: expected a URL, as SCHEMA_REGISTRY_CERT is set, got nothing']);
});

test('headers for the registry are never printed, and neither are its secrets', () => {
  const secrets = {
    ...USER,
    SCHEMA_REGISTRY_PASSWORD: 'open sesame',
    SCHEMA_REGISTRY_HEADERS: 'x-api-key=open sesame,target-sr-cluster=lsrc-1',
  };
  assert.ok(!JSON.stringify(describeConfig(loadConfig(secrets))).includes('sesame'));
  const [fault = ''] = faultsOf({ ...URLS, SCHEMA_REGISTRY_HEADERS: 'no header' });
  assert.match(fault, /SCHEMA_REGISTRY_HEADERS: expected name=value/);
});
