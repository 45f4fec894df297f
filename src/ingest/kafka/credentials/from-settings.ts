import type { Config } from '../../../config/settings.ts';
import type { KafkaCredentials } from './credentials.ts';
import { secret } from './secret.ts';
import { tlsFiles } from './tls-files.ts';

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
  | 'KAFKA_SASL_PASSWORD'
  | 'KAFKA_SASL_PASSWORD_FILE'
>;

/** @throws SluiceError BAD_SETTINGS if a file is not what it must be */
export function kafkaCredentials(settings: CredentialsSettings): KafkaCredentials {
  const credentials = { tls: tlsFiles(settings), sasl: saslOf(settings) };
  // A pod with a wrong mount should not start, in place of trying again and again.
  credentials.tls?.();
  credentials.sasl?.password();
  return credentials;
}

function saslOf(settings: CredentialsSettings): KafkaCredentials['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username = '' } = settings;
  if (mechanism === undefined) return undefined;
  const { KAFKA_SASL_PASSWORD, KAFKA_SASL_PASSWORD_FILE } = settings;
  const password = secret(KAFKA_SASL_PASSWORD, 'KAFKA_SASL_PASSWORD_FILE', KAFKA_SASL_PASSWORD_FILE);
  return { mechanism, username, password: () => password() ?? '' };
}
