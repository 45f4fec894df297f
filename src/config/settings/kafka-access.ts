import { flag, optionalChoice, optionalText, type Setting } from '../types.ts';

/** By whom brokers are reached, and how they know it. Files are read again at each connection. */
export const KAFKA_ACCESS_SETTINGS = {
  KAFKA_TLS: flag({ default: false, help: 'Connect to Kafka over TLS.' }),
  KAFKA_CA: optionalText({
    default: undefined,
    help: "File with the certificate authority that signed the brokers' certificates (PEM).",
  }),
  KAFKA_CERT: optionalText({
    default: undefined,
    help: 'File with the certificate that the gateway shows to brokers, then those of authorities in between (PEM). This file, as every other one for Kafka, is read again at [each connection](../operations/kafka-security.md).',
  }),
  KAFKA_KEY: optionalText({ default: undefined, help: 'File with the key of `KAFKA_CERT` (PEM).' }),
  KAFKA_KEY_PASSPHRASE: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Passphrase of `KAFKA_KEY`, if it is encrypted.',
  }),
  KAFKA_KEY_PASSPHRASE_FILE: optionalText({
    default: undefined,
    help: 'File with that passphrase, in place of `KAFKA_KEY_PASSPHRASE`.',
  }),
  KAFKA_SASL_MECHANISM: optionalChoice(['plain', 'scram-sha-256', 'scram-sha-512'], {
    default: undefined,
    help: 'SASL mechanism of the connection to Kafka.',
  }),
  KAFKA_SASL_USERNAME: optionalText({ default: undefined, help: 'User name for Kafka.' }),
  KAFKA_SASL_PASSWORD: optionalText({ default: undefined, secret: 'all', help: 'Password for Kafka.' }),
  KAFKA_SASL_PASSWORD_FILE: optionalText({
    default: undefined,
    help: 'File with that password, in place of `KAFKA_SASL_PASSWORD`.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
