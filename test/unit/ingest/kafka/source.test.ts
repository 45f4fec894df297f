import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KafkaSource, type KafkaSourceSettings } from '../../../../src/ingest/kafka/source.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { readableLog, RecordingPublisher, topic, topics } from '../parts.ts';

const settings: KafkaSourceSettings = {
  KAFKA_BROKERS: ['127.0.0.1:1'],
  KAFKA_GROUP_ID: 'sluice',
  KAFKA_START: 'committed',
  KAFKA_BAD_BATCH: 'stop',
  KAFKA_SESSION_SECONDS: 6,
  KAFKA_TLS: false,
  KAFKA_CA: undefined,
  KAFKA_SASL_MECHANISM: undefined,
  KAFKA_SASL_USERNAME: undefined,
  KAFKA_SASL_PASSWORD: undefined,
  DEAD_LETTER_TOPIC: undefined,
  EVENT_MAX_AGE_SECONDS: 0,
  REDIS_PREFIX: '',
};

const ingestOf = (changed: Partial<KafkaSourceSettings>, names: string[]) =>
  new KafkaSource({
    settings: { ...settings, ...changed },
    topics: topics(...names.map((name) => topic(name))),
    publisher: new RecordingPublisher(),
    metrics: new Metrics(),
    log: readableLog().log,
    broadcast: false,
  });

test('a dead-letter topic that a subscription field reads is refused', () => {
  assert.throws(() => ingestOf({ DEAD_LETTER_TOPIC: 'bids' }, ['bids']), {
    code: 'BAD_SETTINGS',
    message: /DEAD_LETTER_TOPIC/,
  });
});

test('a graph without topics is ready at once', async () => {
  const ingest = ingestOf({}, []);
  assert.equal(ingest.notReady(), 'joining');
  await ingest.start();
  assert.equal(ingest.notReady(), undefined);
  await ingest.stop();
});
