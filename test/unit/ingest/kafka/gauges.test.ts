import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Metrics } from '../../../../src/metrics.ts';
import { SOURCE_SETTINGS } from '../../../helpers/source-settings.ts';
import { RecordingPublisher } from '../parts.ts';
import { events, FakeBatch } from './batch-parts.ts';
import { FakeDriver, kafkaSource } from './fake-driver.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';

const SESSION_TIMEOUT_MS = 10_000;
const START = 1_000_000;

async function consuming(t: TestContext) {
  const clock = { time: START };
  const driver = new FakeDriver();
  const metrics = new Metrics();
  const publisher = new RecordingPublisher();
  const source = kafkaSource(['bids', 'asks'], {
    settings: { ...SOURCE_SETTINGS, KAFKA_SESSION_TIMEOUT_MS: SESSION_TIMEOUT_MS },
    publisher,
    metrics,
    driver,
    clock: {
      now: () => clock.time,
      // A batch that is held is tried again when its test has changed what it wanted to.
      sleep: () => setImmediate(),
      random: () => 0,
    },
  });
  await source.start();
  t.after(() => source.stop());
  await turnsUntil(() => driver.options !== undefined);
  assert.ok(driver.options);
  const { onAnswer, onAssigned, onBatch } = driver.options;
  /** The values of a metric, as it is collected now: one for each topic if it has them. */
  const values = async (name: string): Promise<string> => {
    const { values: all } = (await metrics.registry.getSingleMetric(name)?.get()) ?? { values: [] };
    return all.map(({ labels, value }) => [...Object.values(labels), value].join(' ')).join(', ');
  };
  /** Where the partitions of `bids` stand. */
  const stand = (...positions: readonly (readonly [position: number, highWatermark?: number])[]): void => {
    driver.positions = positions.map(([position, highWatermark], partition) => {
      const log = { topicId: 'id', resets: 0, partitions: positions.length, leaderEpoch: undefined };
      return { topic: 'bids', partition, position, highWatermark, ...log };
    });
  };
  return { clock, stand, publisher, source, onAnswer, onAssigned, onBatch, values };
}

/** Records with these Kafka timestamps, from offset 0 on. */
function batchOf(timestamps: readonly number[]): FakeBatch {
  const batch = new FakeBatch(events(timestamps.length));
  const records = batch.records.map((record, index) => ({
    ...record,
    timestamp: timestamps[index] ?? assert.fail(),
  }));
  return Object.assign(batch, { records });
}

test('Kafka is connected for a session after its last answer', async (t) => {
  const { clock, onAnswer, values } = await consuming(t);
  assert.equal(await values('sluice_kafka_connected'), '0');
  onAnswer();
  assert.equal(await values('sluice_kafka_connected'), '1');
  clock.time += SESSION_TIMEOUT_MS - 1;
  assert.equal(await values('sluice_kafka_connected'), '1');
  clock.time += 1;
  assert.equal(await values('sluice_kafka_connected'), '0');
});

test('lag is added up over the partitions of a topic, and 0 for a topic without any', async (t) => {
  const { stand, onAssigned, values } = await consuming(t);
  assert.equal(await values('sluice_kafka_lag'), 'bids 0, asks 0');
  assert.equal(await values('sluice_partitions_assigned'), '0');
  onAssigned({ bids: [0, 1, 2] });
  stand([5, 25], [0, 3], [9]);
  assert.equal(await values('sluice_kafka_lag'), 'bids 23, asks 0');
  assert.equal(await values('sluice_partitions_assigned'), '3');
});

test('the lag in seconds is the age of the record that is next, while it is being published and before', async (t) => {
  const { clock, stand, publisher, onAssigned, onBatch, values } = await consuming(t);
  const lag = () => values('sluice_kafka_lag_seconds');
  onAssigned({ bids: [0] });
  stand([0, 3]);
  assert.equal(await lag(), 'bids 0, asks 0', 'nothing of the partition has been seen');

  publisher.failing = (batch) => (publisher.attempts === 1 ? batch : []);
  const processing = onBatch(batchOf([START - 5_000, START - 3_000, -1]));
  await turnsUntil(() => publisher.attempts >= 1);
  clock.time += 1_000;
  const seen = await lag();
  await processing;
  assert.equal(seen, 'bids 6, asks 0');

  stand([3, 3]);
  assert.equal(await lag(), 'bids 0, asks 0');
  stand([3, 4]);
  assert.equal(await lag(), 'bids 6, asks 0', 'those without a timestamp do not tell');

  await onBatch(batchOf([START]));
  stand([4, 5]);
  clock.time = START - 500;
  assert.equal(await lag(), 'bids 0, asks 0', 'a record from the future');
  clock.time = START + 4_000;
  assert.equal(await lag(), 'bids 4, asks 0');
  onAssigned({ bids: [0] });
  assert.equal(await lag(), 'bids 0, asks 0');
});

test('a look at a partition shows its lag, and why it is held', async (t) => {
  const { stand, publisher, source, onAnswer, onAssigned, onBatch } = await consuming(t);
  onAnswer();
  onAssigned({ bids: [0] });
  stand([0, 1]);
  let failing = true;
  publisher.failing = (batch) => (failing ? batch : []);
  const processing = onBatch(batchOf([START - 2_000]));
  await turnsUntil(() => source.inspect().partitions[0]?.state === 'held');
  const { partitions, connected } = source.inspect();
  failing = false;
  await processing;
  assert.equal(connected, true);
  const place = { topic: 'bids', partition: 0, position: 0, highWatermark: 1 };
  const reason = 'the bus acknowledged 0 of 1 publications';
  assert.deepEqual(partitions, [{ ...place, lag: 1, lagSeconds: 2, state: 'held', reason }]);
});

test('where nothing is consumed there are no series of Kafka and Redis, which alerts would take for faults', async () => {
  const page = await new Metrics().registry.metrics();
  assert.doesNotMatch(page, /^sluice_(kafka_connected|partitions_assigned|kafka_lag|bus_connected)\b/m);
});
