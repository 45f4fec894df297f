import { createSecureContext } from 'node:tls';
import { readSettingFile } from '../../../config/config.ts';
import { certificateIn, tryOut } from '../../../config/credential-files.ts';
import type { Config } from '../../../config/settings.ts';
import type { KafkaCredentials } from './credentials.ts';
import { secret } from './secret.ts';

type TlsSettings = Pick<
  Config,
  'KAFKA_TLS' | 'KAFKA_CA' | 'KAFKA_CERT' | 'KAFKA_KEY' | 'KAFKA_KEY_PASSPHRASE' | 'KAFKA_KEY_PASSPHRASE_FILE'
>;

/** Returns a function that reads the files at each call, and tries out what it has read. */
export function tlsFiles(settings: TlsSettings): KafkaCredentials['tls'] {
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
