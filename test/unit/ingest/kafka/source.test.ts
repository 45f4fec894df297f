import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KafkaSource, type KafkaSourceSettings } from '../../../../src/ingest/kafka/source.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { SOURCE_SETTINGS } from '../../../helpers/source-settings.ts';
import { readableLog, RecordingPublisher, topic, topics } from '../parts.ts';
import { FakeDriver } from './fake-driver.ts';

const ingestOf = (changed: Partial<KafkaSourceSettings>, names: string[]) =>
  new KafkaSource({
    settings: { ...SOURCE_SETTINGS, ...changed },
    topics: topics(...names.map((name) => topic(name))),
    publisher: new RecordingPublisher(),
    metrics: new Metrics(),
    log: readableLog().log,
    broadcast: false,
    driver: new FakeDriver(),
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
