import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import {
  kafkaCredentials,
  type CredentialsSettings,
} from '../../../../../src/ingest/kafka/credentials/from-settings.ts';
import { createLog } from '../../../../../src/log.ts';
import { Authority } from '../../../../helpers/authority.ts';
import { PLAIN_KAFKA } from '../../../../helpers/source-settings.ts';
import { temporaryFolder } from '../../../../helpers/temporary-folder.ts';

const credentialsOf = (settings: CredentialsSettings) =>
  kafkaCredentials({ settings, log: createLog('silent'), now: Date.now });

const userOf = ({ sasl }: ReturnType<typeof kafkaCredentials>) =>
  sasl?.mechanism === 'oauthbearer' ? undefined : sasl?.username();

const passwordOf = ({ sasl }: ReturnType<typeof kafkaCredentials>) =>
  sasl?.mechanism === 'oauthbearer' ? undefined : sasl?.password();

const TLS = { ...PLAIN_KAFKA, KAFKA_TLS: true };
const SCRAM = {
  ...PLAIN_KAFKA,
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: 'sluice',
} as const;

test('a file that cannot be read, or is not what it must be, is refused by the name of its setting', async (t) => {
  const garbage = path.join(await temporaryFolder(t), 'garbage.pem');
  await writeFile(garbage, 'no PEM');
  const [mine, others] = [await Authority.create(t), await Authority.create(t)];
  const own = await mine.issue('gateway', 'open sesame');
  const other = await others.issue('other');
  const pair = { KAFKA_CERT: own.certificateFile, KAFKA_KEY: own.keyFile };
  for (const [settings, message] of [
    [{ KAFKA_CA: '/nowhere/ca.pem' }, /^KAFKA_CA: expected a file that can be read, got \/nowhere/],
    [{ KAFKA_CA: garbage }, /^KAFKA_CA: expected a file with a certificate as PEM, got .*garbage/],
    [{ ...pair, KAFKA_CERT: garbage }, /^KAFKA_CERT: expected a file with a certificate as PEM, got .*garb/],
    [{ ...pair, KAFKA_KEY: other.keyFile }, /^KAFKA_KEY: .* of KAFKA_CERT as PEM, not encrypted, got /],
    [pair, /^KAFKA_KEY: .*the key of KAFKA_CERT as PEM, not encrypted, got /],
    [{ ...pair, KAFKA_KEY_PASSPHRASE: 'open rye' }, /^KAFKA_KEY: .*, which KAFKA_KEY_PASSPHRASE opens, got /],
    [{ ...pair, KAFKA_KEY_PASSPHRASE_FILE: '/nowhere/p' }, /^KAFKA_KEY_PASSPHRASE_FILE: .*, got \/nowhere/],
  ] as const) {
    assert.throws(() => credentialsOf({ ...TLS, ...settings }), { code: 'BAD_SETTINGS', message });
  }
  const credentials = credentialsOf({ ...TLS, ...pair, KAFKA_KEY_PASSPHRASE: 'open sesame' });
  assert.equal(credentials.tls?.().passphrase, 'open sesame');
});

test('certificates, users and passwords are read each time that they are asked for', async (t) => {
  const folder = await temporaryFolder(t);
  const [cert = '', key = '', user = '', secret = ''] = ['cert', 'key', 'user', 'password'].map((name) =>
    path.join(folder, name),
  );
  const authority = await Authority.create(t);
  const mount = async (name: string) => {
    const issued = await authority.issue(name);
    await copyFile(issued.certificateFile, cert);
    await copyFile(issued.keyFile, key);
    await writeFile(user, `${name}\n`);
    await writeFile(secret, `of ${name}\n`);
  };
  await mount('one');
  const credentials = credentialsOf({
    ...PLAIN_KAFKA,
    KAFKA_TLS: true,
    KAFKA_CERT: cert,
    KAFKA_KEY: key,
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME_FILE: user,
    KAFKA_SASL_PASSWORD_FILE: secret,
  });
  const before = credentials.tls?.();
  assert.deepEqual([userOf(credentials), passwordOf(credentials)], ['one', 'of one']);
  await mount('two');
  assert.notEqual(credentials.tls?.().cert, before?.cert);
  assert.notEqual(credentials.tls?.().key, before?.key);
  assert.deepEqual([userOf(credentials), passwordOf(credentials)], ['two', 'of two']);
});

test('a file for a password must have one in it, of which byte order mark and line breaks are no part', async (t) => {
  const file = path.join(await temporaryFolder(t), 'password');
  await writeFile(file, '\n');
  const settings = { ...SCRAM, KAFKA_SASL_PASSWORD_FILE: file };
  assert.throws(() => credentialsOf(settings), {
    code: 'BAD_SETTINGS',
    message: `KAFKA_SASL_PASSWORD_FILE: expected a file with text in it, got ${file}, which is empty`,
  });
  await writeFile(file, '\uFEFFopen sesame\r\n');
  assert.equal(passwordOf(credentialsOf(settings)), 'open sesame');
});
