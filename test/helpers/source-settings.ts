import type { KafkaSettings } from '../../src/ingest/kafka/kafkajs/client.ts';
import type { KafkaSourceSettings } from '../../src/ingest/kafka/source.ts';

/** What a Kafka source is set to where a test does not say otherwise. */
export const SOURCE_SETTINGS: KafkaSourceSettings = {
  KAFKA_GROUP_ID: 'sluice',
  KAFKA_START: 'committed',
  KAFKA_BAD_BATCH: 'stop',
  KAFKA_SESSION_SECONDS: 6,
  DEAD_LETTER_TOPIC: undefined,
  EVENT_MAX_AGE_SECONDS: 0,
  REDIS_PREFIX: '',
};

/** Of a broker without TLS and password, at an address where none answers. */
export const PLAIN_KAFKA: KafkaSettings = {
  KAFKA_BROKERS: ['127.0.0.1:1'],
  KAFKA_TLS: false,
  KAFKA_CA: undefined,
  KAFKA_SASL_MECHANISM: undefined,
  KAFKA_SASL_USERNAME: undefined,
  KAFKA_SASL_PASSWORD: undefined,
};
