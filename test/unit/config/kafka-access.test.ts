import assert from 'node:assert/strict';
import test from 'node:test';
import { describeConfig, loadConfig } from '../../../src/config/config.ts';
import { SluiceError } from '../../../src/errors.ts';

function faultsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === 'BAD_SETTINGS');
    return error.message.split('\n').slice(1);
  }
}

const CERT = { KAFKA_TLS: 'true', KAFKA_CERT: 'cert.pem', KAFKA_KEY: 'key.pem' };
const SCRAM = { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'sluice' };

test('a certificate has a key, a key a certificate, and both need TLS', () => {
  assert.deepEqual(faultsOf(CERT), []);
  assert.deepEqual(faultsOf({ ...CERT, KAFKA_KEY: '' }), [
    '  KAFKA_KEY: expected a file, as KAFKA_CERT is set, got nothing',
  ]);
  assert.deepEqual(faultsOf({ ...CERT, KAFKA_CERT: '' }), [
    '  KAFKA_CERT: expected a file, as KAFKA_KEY is set, got nothing',
  ]);
  assert.deepEqual(faultsOf({ ...CERT, KAFKA_TLS: '' }), [
    '  KAFKA_TLS: expected true, as KAFKA_CERT is set, got false',
  ]);
});

test('a passphrase is for a key, and is given once', () => {
  assert.deepEqual(faultsOf({ KAFKA_KEY_PASSPHRASE: 'open sesame' }), [
    '  KAFKA_KEY: expected a file, as KAFKA_KEY_PASSPHRASE is set, got nothing',
  ]);
  assert.deepEqual(
    faultsOf({ ...CERT, KAFKA_KEY_PASSPHRASE: 'open sesame', KAFKA_KEY_PASSPHRASE_FILE: '/run/secrets/p' }),
    ['  KAFKA_KEY_PASSPHRASE, KAFKA_KEY_PASSPHRASE_FILE: expected one of them, got 2'],
  );
});

test('a password is given once, as it is or as a file, to a mechanism that takes one', () => {
  assert.deepEqual(faultsOf({ ...SCRAM, KAFKA_SASL_PASSWORD_FILE: '/run/secrets/password' }), []);
  assert.deepEqual(faultsOf(SCRAM), [
    '  KAFKA_SASL_PASSWORD, KAFKA_SASL_PASSWORD_FILE: expected one of them, as KAFKA_SASL_MECHANISM is scram-sha-512, got none',
  ]);
  assert.deepEqual(
    faultsOf({ ...SCRAM, KAFKA_SASL_PASSWORD: 'open sesame', KAFKA_SASL_PASSWORD_FILE: '/run/secrets/p' }),
    ['  KAFKA_SASL_PASSWORD, KAFKA_SASL_PASSWORD_FILE: expected one of them, got 2'],
  );
  assert.match(
    faultsOf({ KAFKA_SASL_PASSWORD_FILE: '/run/secrets/p' }).join(),
    /^  KAFKA_SASL_MECHANISM: expected plain or .*, as KAFKA_SASL_PASSWORD_FILE is set, got nothing$/,
  );
});

test('no secret of the connection to Kafka is shown', () => {
  const shown = describeConfig(
    loadConfig({ ...CERT, ...SCRAM, KAFKA_KEY_PASSPHRASE: 'open sesame', KAFKA_SASL_PASSWORD: 'open rye' }),
  );
  assert.match(shown, /^KAFKA_KEY_PASSPHRASE=\(secret\)$/m);
  assert.match(shown, /^KAFKA_SASL_PASSWORD=\(secret\)$/m);
  assert.doesNotMatch(shown, /sesame|rye/);
});
