import { ByteBudget, type ByteSource } from '../../src/support/byte-budget.ts';
import type { KafkaConnectionSettings } from '../../src/ingest/kafka/connection.ts';
import type { KafkaSourceSettings } from '../../src/ingest/kafka/source.ts';

/** What a Kafka source is set to where a test does not say otherwise. */
export const SOURCE_SETTINGS: KafkaSourceSettings = {
  KAFKA_GROUP_ID: 'sluice',
  KAFKA_START: 'committed',
  KAFKA_BAD_BATCH: 'stop',
  KAFKA_SESSION_TIMEOUT_MS: 6_000,
  DEAD_LETTER_TOPIC: undefined,
  EVENT_MAX_AGE_SECONDS: 0,
  MAX_EVENT_FANOUT_BYTES: 16_777_216,
  REDIS_PREFIX: '',
  BUS_ID: undefined,
};

/** Room for the records that a consumer has in hand. */
export function roomForRecords(bytes = 64 * 1024 * 1024): ByteSource {
  return new ByteBudget(bytes).source({ least: bytes });
}

/** Of a broker without TLS and password, at an address where none answers. */
export const PLAIN_KAFKA: KafkaConnectionSettings = {
  KAFKA_BROKERS: ['127.0.0.1:1'],
  KAFKA_CLIENT_ID: 'sluice',
  KAFKA_RACK: undefined,
  KAFKA_TLS: false,
  KAFKA_CA: undefined,
  KAFKA_CERT: undefined,
  KAFKA_KEY: undefined,
  KAFKA_KEY_PASSPHRASE: undefined,
  KAFKA_KEY_PASSPHRASE_FILE: undefined,
  KAFKA_SASL_MECHANISM: undefined,
  KAFKA_SASL_USERNAME: undefined,
  KAFKA_SASL_USERNAME_FILE: undefined,
  KAFKA_SASL_PASSWORD: undefined,
  KAFKA_SASL_PASSWORD_FILE: undefined,
  KAFKA_OAUTH_TOKEN_FILE: undefined,
  KAFKA_OAUTH_TOKEN_URL: undefined,
  KAFKA_OAUTH_CLIENT_ID: undefined,
  KAFKA_OAUTH_CLIENT_SECRET: undefined,
  KAFKA_OAUTH_CLIENT_SECRET_FILE: undefined,
  KAFKA_OAUTH_CLIENT_AUTH: 'basic',
  KAFKA_OAUTH_SCOPE: undefined,
  KAFKA_OAUTH_AUDIENCE: undefined,
  KAFKA_OAUTH_EXTENSIONS: [],
  KAFKA_AWS_REGION: undefined,
};
