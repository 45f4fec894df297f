import { readSettingFile } from '../../../config/config.ts';
import type { Config } from '../../../config/settings.ts';
import type { Log } from '../../../log.ts';
import { issueToken } from './client-credentials.ts';
import type { KafkaCredentials } from './credentials.ts';
import { mskTokens } from './msk-token.ts';
import { RenewedToken } from './renewed-token.ts';
import { expiryOf } from './expiry.ts';
import { TokenUnavailable } from './token-unavailable.ts';
import { createSecureContext } from 'node:tls';
import { certificateIn, tryOut, secretIn } from '../../../config/credential-files.ts';

const SETTING = 'KAFKA_OAUTH_TOKEN_FILE';

/** @returns a function that returns the token that is in the file at the call */
function tokenFile(file: string, now: () => number): () => Promise<string> {
  const text = secret(undefined, SETTING, file);
  return async () => {
    const token = text() ?? '';
    if (/[^\x21-\x7e]/.test(token)) {
      const came = `${file}, which holds spaces or other characters that tokens do not have`;
      throw new TokenUnavailable(`${SETTING}: expected a file with a token and no more, got ${came}`, {
        retriable: false,
      });
    }
    const expiresAt = expiryOf(token);
    if (expiresAt !== undefined && expiresAt <= now()) {
      const came = `${file}, whose token was valid until ${new Date(expiresAt).toISOString()}`;
      throw new TokenUnavailable(`${SETTING}: expected a token that is valid, got ${came}`, {
        retriable: false,
      });
    }
    return token;
  };
}

export type CredentialsSettings = Pick<
  Config,
  | 'KAFKA_TLS'
  | 'KAFKA_CA'
  | 'KAFKA_CERT'
  | 'KAFKA_KEY'
  | 'KAFKA_KEY_PASSPHRASE'
  | 'KAFKA_KEY_PASSPHRASE_FILE'
  | 'KAFKA_SASL_MECHANISM'
  | 'KAFKA_SASL_USERNAME'
  | 'KAFKA_SASL_USERNAME_FILE'
  | 'KAFKA_SASL_PASSWORD'
  | 'KAFKA_SASL_PASSWORD_FILE'
  | 'KAFKA_OAUTH_TOKEN_FILE'
  | 'KAFKA_OAUTH_TOKEN_URL'
  | 'KAFKA_OAUTH_CLIENT_ID'
  | 'KAFKA_OAUTH_CLIENT_SECRET'
  | 'KAFKA_OAUTH_CLIENT_SECRET_FILE'
  | 'KAFKA_OAUTH_CLIENT_AUTH'
  | 'KAFKA_OAUTH_SCOPE'
  | 'KAFKA_OAUTH_AUDIENCE'
  | 'KAFKA_OAUTH_EXTENSIONS'
  | 'KAFKA_AWS_REGION'
>;

interface CredentialsOptions {
  readonly settings: CredentialsSettings;
  readonly log: Log;
  /** ms since 1970 */
  readonly now: () => number;
}

/** @throws SluiceError BAD_SETTINGS if a file is not what it must be, or MISSING_PACKAGE */
export function kafkaCredentials(options: CredentialsOptions): KafkaCredentials {
  const { settings } = options;
  const tls = tlsFiles(settings);
  // A pod with a wrong mount should fail at the start, rather than try again and again.
  tls?.();
  return { tls, sasl: saslOf(options) };
}

function saslOf(options: CredentialsOptions): KafkaCredentials['sasl'] {
  const { settings } = options;
  const { KAFKA_SASL_MECHANISM: mechanism } = settings;
  switch (mechanism) {
    case undefined:
      return undefined;
    case 'oauthbearer':
      return { mechanism, extensions: extensionsOf(settings), token: tokenSource(options) };
    case 'aws-msk-iam':
      return { mechanism: 'oauthbearer', extensions: {}, token: mskToken(options) };
    default:
      return {
        mechanism,
        username: secretOf(settings, 'KAFKA_SASL_USERNAME'),
        password: secretOf(settings, 'KAFKA_SASL_PASSWORD'),
      };
  }
}

function tokenSource({ settings, log, now }: CredentialsOptions): () => Promise<string> {
  const { KAFKA_OAUTH_TOKEN_FILE: file, KAFKA_OAUTH_TOKEN_URL: url = '' } = settings;
  if (file !== undefined) {
    readSettingFile('KAFKA_OAUTH_TOKEN_FILE', file);
    return tokenFile(file, now);
  }
  const client = {
    setting: 'KAFKA_OAUTH_TOKEN_URL',
    url,
    clientId: settings.KAFKA_OAUTH_CLIENT_ID ?? '',
    clientSecret: secretOf(settings, 'KAFKA_OAUTH_CLIENT_SECRET'),
    clientAuth: settings.KAFKA_OAUTH_CLIENT_AUTH,
    scope: settings.KAFKA_OAUTH_SCOPE,
    audience: settings.KAFKA_OAUTH_AUDIENCE,
    now,
  };
  const token = new RenewedToken({ issue: () => issueToken(client), now, log });
  return () => token.get();
}

function mskToken({ settings, log, now }: CredentialsOptions): () => Promise<string> {
  const token = new RenewedToken({ issue: mskTokens(settings.KAFKA_AWS_REGION ?? ''), now, log });
  return () => token.get();
}

/** Reads a setting or the file beside it, which must not be empty at the start. */
function secretOf(
  settings: CredentialsSettings,
  name: 'KAFKA_SASL_USERNAME' | 'KAFKA_SASL_PASSWORD' | 'KAFKA_OAUTH_CLIENT_SECRET',
): () => string {
  const setting = `${name}_FILE` as const;
  const read = secret(settings[name] ?? '', setting, settings[setting]);
  read();
  return read;
}

/** Each is `name=value`. */
function extensionsOf({ KAFKA_OAUTH_EXTENSIONS }: CredentialsSettings): Record<string, string> {
  const pairs = KAFKA_OAUTH_EXTENSIONS.map((pair) => {
    const end = pair.indexOf('=');
    return [pair.slice(0, end), pair.slice(end + 1)];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

type TlsSettings = Pick<
  Config,
  'KAFKA_TLS' | 'KAFKA_CA' | 'KAFKA_CERT' | 'KAFKA_KEY' | 'KAFKA_KEY_PASSPHRASE' | 'KAFKA_KEY_PASSPHRASE_FILE'
>;

/** Returns a function that reads the files at each call, and tries out what it has read. */
function tlsFiles(settings: TlsSettings): KafkaCredentials['tls'] {
  const { KAFKA_TLS, KAFKA_CA: caFile, KAFKA_CERT: certFile, KAFKA_KEY: keyFile } = settings;
  if (!KAFKA_TLS) return undefined;
  const { KAFKA_KEY_PASSPHRASE, KAFKA_KEY_PASSPHRASE_FILE } = settings;
  const passphraseOf = secret(KAFKA_KEY_PASSPHRASE, 'KAFKA_KEY_PASSPHRASE_FILE', KAFKA_KEY_PASSPHRASE_FILE);
  return () => {
    const ca = caFile === undefined ? {} : { ca: certificateIn('KAFKA_CA', caFile) };
    if (certFile === undefined || keyFile === undefined) return ca;
    const passphrase = passphraseOf();
    const pair = {
      cert: certificateIn('KAFKA_CERT', certFile),
      key: readSettingFile('KAFKA_KEY', keyFile),
      ...(passphrase !== undefined && { passphrase }),
    };
    const readable = passphrase === undefined ? 'not encrypted' : 'which KAFKA_KEY_PASSPHRASE opens';
    tryOut(
      () => createSecureContext(pair),
      `KAFKA_KEY: expected a file with the key of KAFKA_CERT as PEM, ${readable}, got ${keyFile}`,
    );
    return { ...ca, ...pair };
  };
}

/**
 * @param value the secret, if there is no file
 * @param setting the setting that names the file
 * @returns a function that returns the present secret: it reads the file, and throws SluiceError BAD_SETTINGS if it can't
 */
function secret<Value extends string | undefined>(
  value: Value,
  setting: keyof Config,
  file: string | undefined,
): () => Value | string {
  return file === undefined ? () => value : () => secretIn(setting, file);
}
