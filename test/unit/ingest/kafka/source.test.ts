import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../../../src/metrics.ts';
import { stillClock } from '../../support/still-clock.ts';
import { SOURCE_SETTINGS } from '../../../helpers/source-settings.ts';
import { readableLog } from '../parts.ts';
import { FakeDriver, kafkaSource } from './fake-driver.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';

test('a dead-letter topic that a subscription field reads is refused', () => {
  const settings = { ...SOURCE_SETTINGS, DEAD_LETTER_TOPIC: 'bids' };
  const refusal = { code: 'BAD_SETTINGS', message: /DEAD_LETTER_TOPIC/ };
  assert.throws(() => kafkaSource(['bids'], { settings }), refusal);
});

test('a graph without topics is ready at once', async () => {
  const ingest = kafkaSource([]);
  assert.equal(ingest.notReady(), 'joining');
  await ingest.start();
  assert.equal(ingest.notReady(), undefined);
  await ingest.stop();
});

test('the group is joined once the bus has been reached, and not before', async (t) => {
  const driver = new FakeDriver();
  let reason: string | undefined = 'Redis has not been reached yet';
  const { clock, sleeps, wakeAll } = stillClock();
  const ingest = kafkaSource(['bids'], { driver, clock, mayNotJoin: () => reason });
  t.after(() => ingest.stop());
  await ingest.start();
  const wake = async (): Promise<void> => {
    await turnsUntil(() => sleeps.length > 0);
    wakeAll();
  };
  for (let asked = 0; asked < 4; asked += 1) {
    await wake();
    assert.equal(driver.options, undefined);
  }
  reason = undefined;
  await wake();
  await turnsUntil(() => driver.options !== undefined);
});

test('a source that has not reached Kafka yet says so, and why, in one line for each reason', async (t) => {
  const driver = new FakeDriver();
  const { clock, sleeps, wakeAll } = stillClock();
  const { log, lines } = readableLog();
  const reasons = ['connect ECONNREFUSED', 'connect ECONNREFUSED', 'no route', 'connect ECONNREFUSED'];
  let attempts = 0;
  driver.missingTopics = async () => {
    const reason = reasons[attempts];
    attempts += 1;
    if (reason === undefined) return [];
    throw new Error(reason);
  };
  const ingest = kafkaSource(['bids'], { driver, clock, log });
  t.after(() => ingest.stop());
  await ingest.start();
  for (const reason of reasons) {
    await turnsUntil(() => sleeps.length > 0);
    assert.equal(ingest.notReady(), `Kafka has not been reached yet: ${reason}`);
    wakeAll();
  }
  await turnsUntil(() => driver.options !== undefined);
  assert.equal(ingest.notReady(), 'joining');
  const told = lines.filter(({ level }) => Number(level) > 30).map(({ msg, error }) => [msg, error]);
  const message = 'Kafka has not been reached yet; trying again until it is';
  assert.deepEqual(told, [
    [message, 'connect ECONNREFUSED'],
    [message, 'no route'],
  ]);
});

/** A source whose driver lacks topics, and what ends its sleeps. */
async function lacking(missing: readonly string[], settings = SOURCE_SETTINGS) {
  const driver = new FakeDriver();
  const state = { missing };
  driver.missingTopics = async (wanted) => wanted.filter((name) => state.missing.includes(name));
  driver.deadLetterSink = () => ({ send: async () => undefined, stop: async () => undefined });
  const { clock, sleeps, wakeAll } = stillClock();
  const { log, lines } = readableLog();
  const metrics = new Metrics();
  const source = kafkaSource(['bids', 'users'], { driver, clock, log, metrics, settings });
  await source.start();
  const look = async (): Promise<void> => {
    await turnsUntil(() => sleeps.length > 0);
    wakeAll();
    await turnsUntil(() => sleeps.length > 0);
  };
  const joined = async (...names: string[]): Promise<void> => {
    await turnsUntil(() => String(driver.options?.topics) === String(names));
    driver.options?.onAssigned({ [names[0] ?? '']: [0] });
  };
  const gauge = async (name: string) =>
    (await metrics.topicMissing.get()).values.find(({ labels }) => labels.topic === name)?.value;
  const told = () => lines.flatMap(({ msg, topics: names }) => (names === undefined ? [] : [[msg, names]]));
  return { source, state, look, joined, gauge, told };
}

const GONE = 'topics are missing; the others are consumed';
const BACK = 'topics that were missing are there';

test('a topic that is missing at the start keeps the pod unready, and the others are consumed', async (t) => {
  const { source, state, look, joined, gauge, told } = await lacking(['users']);
  t.after(() => source.stop());
  await joined('bids');
  assert.equal(source.notReady(), 'topics missing: users');
  assert.deepEqual([await gauge('bids'), await gauge('users')], [0, 1]);
  await look();
  assert.equal(source.notReady(), 'topics missing: users');
  state.missing = [];
  await look();
  await joined('bids', 'users');
  assert.equal(source.notReady(), undefined);
  assert.equal(await gauge('users'), 0);
  assert.deepEqual(told(), [
    [GONE, ['users']],
    [BACK, ['users']],
  ]);
});

test('a topic that goes later is told and counted, and leaves the pod ready, which consumes it once it is back', async (t) => {
  const { source, state, look, joined, gauge, told } = await lacking([]);
  t.after(() => source.stop());
  await joined('bids', 'users');
  assert.equal(source.notReady(), undefined);
  state.missing = ['bids'];
  await look();
  await joined('users');
  assert.equal(source.notReady(), undefined);
  assert.equal(source.inspect().lastError, 'topics missing: bids');
  assert.equal(await gauge('bids'), 1);
  state.missing = [];
  await look();
  await joined('bids', 'users');
  assert.equal(source.inspect().lastError, undefined);
  assert.deepEqual(told(), [
    [GONE, ['bids']],
    [BACK, ['bids']],
  ]);
});

test('a dead-letter topic that is missing at the start keeps the pod unready, one that goes later does not', async (t) => {
  const settings = { ...SOURCE_SETTINGS, DEAD_LETTER_TOPIC: 'dead' };
  const { source, state, look, joined, gauge } = await lacking(['dead'], settings);
  t.after(() => source.stop());
  await joined('bids', 'users');
  assert.equal(source.notReady(), 'topics missing: dead');
  state.missing = [];
  await look();
  assert.equal(source.notReady(), undefined);
  state.missing = ['dead'];
  await look();
  assert.equal(source.notReady(), undefined);
  assert.equal(await gauge('dead'), 1);
});

test('what others may read again is of partitions of which the group has confirmed this member within half a session', async (t) => {
  const driver = new FakeDriver();
  const { clock } = stillClock();
  let now = 1_000;
  const source = kafkaSource(['bids'], { driver, clock: { ...clock, now: () => now } });
  t.after(() => source.stop());
  await source.start();
  await turnsUntil(() => driver.options !== undefined);
  const log = { topic: 'bids', partition: 0, topicId: 'id', resets: 0, partitions: 1 };
  const positionAt = (position: number): void => {
    driver.positions = [{ ...log, leaderEpoch: 3, position, highWatermark: 9 }];
  };
  const consumed = () =>
    source.consumption.topics().flatMap(({ partitions }) => {
      return partitions.map(({ assignedAt, start, next }) => [assignedAt, start, next]);
    });
  driver.confirmedAt = 1_000;
  positionAt(5);
  driver.options?.onAssigned({ bids: [0] });
  positionAt(7);
  now += SOURCE_SETTINGS.KAFKA_SESSION_TIMEOUT_MS / 2 - 1;
  assert.deepEqual(consumed(), [[1_000, 5, 7]]);
  now += 1;
  assert.deepEqual(consumed(), []);
});
