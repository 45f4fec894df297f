import { loadConfig } from '../../src/config/config.ts';
import { ByteBudget, type ByteSource } from '../../src/support/byte-budget.ts';
import type { KafkaConnectionSettings } from '../../src/ingest/kafka/connection.ts';
import type { KafkaSourceSettings } from '../../src/ingest/kafka/source.ts';

/** What a Kafka source is set to where a test does not say otherwise. */
export const SOURCE_SETTINGS: KafkaSourceSettings = loadConfig({
  KAFKA_SESSION_TIMEOUT_MS: '6000',
  REDIS_PREFIX: '',
});

/** Room for the records that a consumer has in hand. */
export function roomForRecords(bytes = 64 * 1024 * 1024): ByteSource {
  return new ByteBudget(bytes).source({ least: bytes });
}

/** A broker without TLS and password, at an address where none answers. */
export const PLAIN_KAFKA: KafkaConnectionSettings = loadConfig({ KAFKA_BROKERS: '127.0.0.1:1' });
