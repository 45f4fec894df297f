import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { tlsRefusal } from '../../../../../src/ingest/kafka/credentials/tls-refusal.ts';
import { Authority } from '../../../../helpers/authority.ts';

const unverified = { authorizationError: undefined as unknown as Error };
const error = (code: string, reason: string) =>
  Object.assign(new Error(`8A:${reason}:1601\n`), { code, reason });

test('a broker that does not take the certificate is told apart from one that has asked for none', async (t) => {
  const authority = await Authority.create(t);
  const alert = error('ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN', 'sslv3 alert certificate unknown');
  for (const [name, shown] of [
    ['gateway', 'CN=gateway'],
    ['', 'DNS:localhost'],
  ] as const) {
    const cert = await readFile((await authority.issue(name)).certificateFile, 'utf8');
    const [before = '', after] = (tlsRefusal(alert, unverified, { cert }) ?? '').split(/, valid until .*?: /);
    const expected = 'the broker expected a certificate that it trusts, got that of KAFKA_CERT';
    assert.deepEqual([before, after], [`${expected}, for ${shown}`, 'sslv3 alert certificate unknown']);
  }
  const required = error('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tlsv13 alert certificate required');
  assert.match(tlsRefusal(required, unverified, {}) ?? '', /got none \(KAFKA_CERT\): tlsv13 alert/);
});

test('a broker of an unknown authority, and a listener without TLS, are named', () => {
  const expired = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' });
  const refused = { authorizationError: expired };
  assert.equal(
    tlsRefusal(expired, refused, { ca: 'PEM' }),
    'expected a certificate of the broker for its name, by an authority in KAFKA_CA, got: certificate has expired',
  );
  assert.match(tlsRefusal(expired, refused, {}) ?? '', /by an authority that Node.js trusts/);
  assert.equal(
    tlsRefusal(error('ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number'), unverified, {}),
    'expected a listener with TLS, got one without: wrong version number',
  );
});

test('a lost connection is no refusal', () => {
  assert.equal(tlsRefusal(error('ECONNRESET', 'read ECONNRESET'), unverified, {}), undefined);
});
