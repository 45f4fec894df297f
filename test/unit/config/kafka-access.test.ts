import assert from 'node:assert/strict';
import test from 'node:test';
import { describeConfig, loadConfig } from '../../../src/config/config.ts';
import { assertRefused, faultsOf, warningsOf } from './refused.ts';

const CERT = { KAFKA_TLS: 'true', KAFKA_CERT: 'cert.pem', KAFKA_KEY: 'key.pem' };
const SCRAM = { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'sluice' };

test('a certificate has a key, a key a certificate, and both need TLS', () => {
  assert.deepEqual(faultsOf(CERT), []);
  assertRefused({ ...CERT, KAFKA_KEY: '' }, 'KAFKA_KEY: expected a file, as KAFKA_CERT is set, got nothing');
  assertRefused({ ...CERT, KAFKA_CERT: '' }, 'KAFKA_CERT: expected a file, as KAFKA_KEY is set, got nothing');
  assertRefused({ ...CERT, KAFKA_TLS: '' }, 'KAFKA_TLS: expected true, as KAFKA_CERT is set, got false');
});

test('a passphrase is for a key, and is given once', () => {
  assertRefused({ KAFKA_KEY_PASSPHRASE: 'open sesame' }, [
    'KAFKA_KEY: expected a file, as KAFKA_KEY_PASSPHRASE is set, got nothing',
  ]);
  assertRefused(
    { ...CERT, KAFKA_KEY_PASSPHRASE: 'open sesame', KAFKA_KEY_PASSPHRASE_FILE: '/run/secrets/p' },
    ['KAFKA_KEY_PASSPHRASE, KAFKA_KEY_PASSPHRASE_FILE: expected one of them, got 2'],
  );
});

test('a user name is given once, as it is or as a file', () => {
  const { KAFKA_SASL_USERNAME: name, ...mechanism } = { ...SCRAM, KAFKA_SASL_PASSWORD: 'open sesame' };
  const file = { ...mechanism, KAFKA_SASL_USERNAME_FILE: '/run/secrets/user' };
  assert.deepEqual(faultsOf(file), []);
  assertRefused(mechanism, [
    'KAFKA_SASL_USERNAME, KAFKA_SASL_USERNAME_FILE: expected one of them, as KAFKA_SASL_MECHANISM is scram-sha-512, got none',
  ]);
  assertRefused({ ...file, KAFKA_SASL_USERNAME: name }, [
    'KAFKA_SASL_USERNAME, KAFKA_SASL_USERNAME_FILE: expected one of them, got 2',
  ]);
});

test('a password is given once, as it is or as a file, to a mechanism that takes one', () => {
  assert.deepEqual(faultsOf({ ...SCRAM, KAFKA_SASL_PASSWORD_FILE: '/run/secrets/password' }), []);
  assertRefused(SCRAM, [
    'KAFKA_SASL_PASSWORD, KAFKA_SASL_PASSWORD_FILE: expected one of them, as KAFKA_SASL_MECHANISM is scram-sha-512, got none',
  ]);
  assertRefused(
    { ...SCRAM, KAFKA_SASL_PASSWORD: 'open sesame', KAFKA_SASL_PASSWORD_FILE: '/run/secrets/p' },
    ['KAFKA_SASL_PASSWORD, KAFKA_SASL_PASSWORD_FILE: expected one of them, got 2'],
  );
  assertRefused(
    { KAFKA_SASL_PASSWORD_FILE: '/run/secrets/p' },
    /^KAFKA_SASL_MECHANISM: expected plain or .*, as KAFKA_SASL_PASSWORD_FILE is set, got nothing$/,
  );
});

const OAUTH = { KAFKA_SASL_MECHANISM: 'oauthbearer' };
const ENDPOINT = {
  ...OAUTH,
  KAFKA_OAUTH_TOKEN_URL: 'https://login.example/token',
  KAFKA_OAUTH_CLIENT_ID: 'gateway',
  KAFKA_OAUTH_CLIENT_SECRET: 'open sesame',
};

test('a token comes from a file or from an endpoint, which needs a client and its secret', () => {
  assert.deepEqual(faultsOf({ ...OAUTH, KAFKA_OAUTH_TOKEN_FILE: '/run/secrets/token' }), []);
  assert.deepEqual(faultsOf({ ...ENDPOINT, KAFKA_OAUTH_SCOPE: 'kafka', KAFKA_OAUTH_AUDIENCE: 'kafka' }), []);
  assertRefused(OAUTH, [
    'KAFKA_OAUTH_TOKEN_FILE, KAFKA_OAUTH_TOKEN_URL: expected one of them, as KAFKA_SASL_MECHANISM is oauthbearer, got none',
  ]);
  assertRefused({ ...ENDPOINT, KAFKA_OAUTH_CLIENT_ID: '', KAFKA_OAUTH_CLIENT_SECRET: '' }, [
    'KAFKA_OAUTH_CLIENT_ID: expected text, as KAFKA_OAUTH_TOKEN_URL is set, got nothing',
    'KAFKA_OAUTH_CLIENT_SECRET, KAFKA_OAUTH_CLIENT_SECRET_FILE: expected one of them, as KAFKA_OAUTH_TOKEN_URL is set, got none',
  ]);
  assertRefused({ ...OAUTH, KAFKA_OAUTH_TOKEN_FILE: 'token', KAFKA_OAUTH_CLIENT_SECRET: 'rye' }, [
    'KAFKA_OAUTH_CLIENT_SECRET: expected nothing, as KAFKA_OAUTH_TOKEN_URL is not set, got a value',
  ]);
  assertRefused({ ...ENDPOINT, KAFKA_OAUTH_TOKEN_URL: 'https://user:rye@login.example/' }, [
    'KAFKA_OAUTH_TOKEN_URL: expected no user name and no password, got some',
  ]);
});

test('a token endpoint without TLS is warned of', () => {
  const env = { ...ENDPOINT, KAFKA_TLS: 'true' };
  assert.deepEqual(warningsOf(env), []);
  const open = { ...env, KAFKA_OAUTH_TOKEN_URL: 'http://login.example/token' };
  assert.match(warningsOf(open).join(), /KAFKA_OAUTH_TOKEN_URL without https/);
});

test('settings of another mechanism are refused, without the secrets in them', () => {
  assertRefused({ ...ENDPOINT, KAFKA_SASL_PASSWORD: 'open rye' }, [
    'KAFKA_SASL_PASSWORD: expected nothing, as KAFKA_SASL_MECHANISM is oauthbearer, got a value',
  ]);
  assertRefused({ ...SCRAM, KAFKA_SASL_PASSWORD: 'p', KAFKA_OAUTH_EXTENSIONS: 'logicalCluster=lkc-1' }, [
    'KAFKA_OAUTH_EXTENSIONS: expected nothing, as KAFKA_SASL_MECHANISM is scram-sha-512, got a value',
  ]);
});

test('SASL extensions are names of letters with values, and none is that of the token', () => {
  const KAFKA_OAUTH_EXTENSIONS = 'logicalCluster=lkc-1, identityPoolId=pool-a=b';
  assert.deepEqual(loadConfig({ ...ENDPOINT, KAFKA_OAUTH_EXTENSIONS }).KAFKA_OAUTH_EXTENSIONS, [
    'logicalCluster=lkc-1',
    'identityPoolId=pool-a=b',
  ]);
  for (const wrong of ['auth=Bearer x', 'a', 'a=', 'a-b=c', 'a=\u0001']) {
    assert.equal(faultsOf({ ...ENDPOINT, KAFKA_OAUTH_EXTENSIONS: wrong }).length, 1, wrong);
  }
});

test('no secret of the connection to Kafka is shown', () => {
  const shown = describeConfig(
    loadConfig({ ...CERT, ...SCRAM, KAFKA_KEY_PASSPHRASE: 'open sesame', KAFKA_SASL_PASSWORD: 'open rye' }),
  );
  assert.match(shown, /^KAFKA_KEY_PASSPHRASE=\(secret\)$/m);
  assert.match(shown, /^KAFKA_SASL_PASSWORD=\(secret\)$/m);
  assert.doesNotMatch(shown, /sesame|rye/);
  assert.match(describeConfig(loadConfig(ENDPOINT)), /^KAFKA_OAUTH_CLIENT_SECRET=\(secret\)$/m);
});

test('aws-msk-iam takes a region and nothing else, over TLS', () => {
  const msk = { KAFKA_SASL_MECHANISM: 'aws-msk-iam', KAFKA_TLS: 'true', KAFKA_AWS_REGION: 'us-gov-east-1' };
  assert.deepEqual(faultsOf(msk), []);
  assertRefused({ ...msk, KAFKA_TLS: 'false', KAFKA_AWS_REGION: '', KAFKA_SASL_PASSWORD: 'p' }, [
    'KAFKA_SASL_PASSWORD: expected nothing, as KAFKA_SASL_MECHANISM is aws-msk-iam, got a value',
    'KAFKA_TLS: expected true, as KAFKA_SASL_MECHANISM is aws-msk-iam, got false',
    'KAFKA_AWS_REGION: expected a region of AWS, such as eu-central-1, as KAFKA_SASL_MECHANISM is aws-msk-iam, got nothing',
  ]);
  assertRefused({ ...msk, KAFKA_AWS_REGION: 'eu-central-1a' }, [
    'KAFKA_AWS_REGION: expected a region of AWS, such as eu-central-1, got eu-central-1a',
  ]);
  assertRefused(
    { KAFKA_AWS_REGION: 'eu-central-1' },
    /^KAFKA_SASL_MECHANISM: expected plain or .*, as KAFKA_AWS_REGION is set, got nothing$/,
  );
});

test('a name in the group is for one process, with a client that can have one, in a group that others know', () => {
  const redis = { REDIS_URL: 'redis://r', KAFKA_BROKERS: 'k:9092' };
  const named = { ...redis, KAFKA_DRIVER: 'platformatic', KAFKA_INSTANCE_ID: 'sluice-0' };
  assert.deepEqual(faultsOf(named), []);
  assertRefused({ ...named, KAFKA_DRIVER: '' }, [
    'KAFKA_DRIVER: expected platformatic, as KAFKA_INSTANCE_ID is set, got kafkajs',
  ]);
  assertRefused({ ...named, REDIS_URL: '' }, [
    'KAFKA_INSTANCE_ID: expected nothing, as without Redis each process has a group of its own, got sluice-0',
  ]);
  assertRefused({ ...named, WORKERS: '2' }, [
    'WORKERS: expected 1, as KAFKA_INSTANCE_ID names one member of the group, got 2',
  ]);
});

test('brokers share partitions out for the client that knows how', () => {
  const redis = { KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://r', KAFKA_GROUP_PROTOCOL: 'consumer' };
  assert.deepEqual(faultsOf({ ...redis, KAFKA_DRIVER: 'platformatic' }), []);
  assertRefused(redis, [
    'KAFKA_DRIVER: expected platformatic, as KAFKA_GROUP_PROTOCOL is consumer, got kafkajs',
  ]);
});
