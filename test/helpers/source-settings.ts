import { loadConfig } from '../../src/config/config.ts';
import { ByteBudget, type ByteSource } from '../../src/support/byte-budget.ts';
import type { KafkaConnectionSettings } from '../../src/ingest/kafka/connection.ts';
import type { KafkaSourceSettings } from '../../src/ingest/kafka/source.ts';

/** The settings of a Kafka source, unless a test says otherwise. */
export const SOURCE_SETTINGS: KafkaSourceSettings = loadConfig({
  KAFKA_SESSION_TIMEOUT_MS: '6000',
  REDIS_PREFIX: '',
});

/** Room for the records in a consumer's hand. */
export function roomForRecords(bytes = 64 * 1024 * 1024): ByteSource {
  return new ByteBudget(bytes).source({ least: bytes });
}

/** A broker without TLS and password, at an address without a server. */
export const PLAIN_KAFKA: KafkaConnectionSettings = loadConfig({ KAFKA_BROKERS: '127.0.0.1:1' });
