import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { KafkaSource, type KafkaSourceOptions } from '../../../../src/ingest/kafka/source.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { stillClock } from '../../support/still-clock.ts';
import { SOURCE_SETTINGS, roomForRecords } from '../../../helpers/source-settings.ts';
import { readableLog, RecordingPublisher, topic, topics } from '../parts.ts';
import { FakeDriver } from './fake-driver.ts';

const ingestOf = (names: string[], others: Partial<KafkaSourceOptions> = {}) =>
  new KafkaSource({
    settings: SOURCE_SETTINGS,
    topics: topics(...names.map((name) => topic(name))),
    publisher: new RecordingPublisher(),
    metrics: new Metrics(),
    log: readableLog().log,
    records: roomForRecords(),
    broadcast: false,
    driver: new FakeDriver(),
    ...others,
  });

test('a dead-letter topic that a subscription field reads is refused', () => {
  const settings = { ...SOURCE_SETTINGS, DEAD_LETTER_TOPIC: 'bids' };
  const refusal = { code: 'BAD_SETTINGS', message: /DEAD_LETTER_TOPIC/ };
  assert.throws(() => ingestOf(['bids'], { settings }), refusal);
});

test('a graph without topics is ready at once', async () => {
  const ingest = ingestOf([]);
  assert.equal(ingest.notReady(), 'joining');
  await ingest.start();
  assert.equal(ingest.notReady(), undefined);
  await ingest.stop();
});

test('the group is joined once the bus has been reached, and not before', async (t) => {
  const driver = new FakeDriver();
  let reason: string | undefined = 'Redis has not been reached yet';
  const { clock, sleeps, wakeAll } = stillClock();
  const ingest = ingestOf(['bids'], { driver, clock, mayNotJoin: () => reason });
  t.after(() => ingest.stop());
  await ingest.start();
  const wake = async (): Promise<void> => {
    while (sleeps.length === 0) await setImmediate();
    wakeAll();
  };
  for (let asked = 0; asked < 4; asked += 1) {
    await wake();
    assert.equal(driver.options, undefined);
  }
  reason = undefined;
  await wake();
  while (driver.options === undefined) await setImmediate();
});
