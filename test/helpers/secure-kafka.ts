import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Kafka } from 'kafkajs';
import type { Certificate } from './certificate.ts';
import { freePort } from './free-port.ts';
import { startOwnKafka } from './own-kafka.ts';

export interface SecureKafka {
  /** Takes TLS and PLAIN only. */
  readonly brokers: string;
  /** Of the same broker, without either. */
  readonly open: Kafka;
}

/** A broker of the test's own that wants TLS and a password. Needs 'kafka-jars'. */
export async function startSecureKafka(
  t: TestContext,
  { folder, keyFile, certificateFile }: Certificate,
  user: { readonly name: string; readonly password: string },
): Promise<SecureKafka> {
  const port = await freePort();
  const keyStore = path.join(folder, 'keystore.pem');
  await writeFile(keyStore, (await readFile(keyFile, 'utf8')) + (await readFile(certificateFile, 'utf8')));
  const settings = {
    'sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.sasl_ssl.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required user_${user.name}="${user.password}";`,
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyStore,
  };
  const kafka = await startOwnKafka(t, folder, settings, [{ protocol: 'SASL_SSL', port }]);
  return { brokers: `localhost:${port}`, open: kafka.client };
}
