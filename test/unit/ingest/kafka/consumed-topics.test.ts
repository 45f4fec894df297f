import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { ConsumedTopics } from '../../../../src/ingest/kafka/consumed-topics.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { stillClock } from '../../support/still-clock.ts';
import { readableLog, topic, topics } from '../parts.ts';
import { FakeDriver } from './fake-driver.ts';

const named = (...names: string[]) => topics(...names.map((name) => topic(name)));

/** Consumes `bids` and `news`, of which Kafka has all but those in `missing`. */
function setUp(t: TestContext) {
  const missing = new Set<string>();
  const driver = new FakeDriver();
  const asked = t.mock.method(driver, 'missingTopics', async (wanted: readonly string[]) =>
    wanted.filter((name) => missing.has(name)),
  );
  const metrics = new Metrics();
  const consumed = new ConsumedTopics({
    topics: named('bids', 'news'),
    deadLetterTopic: 'letters',
    driver,
    clock: stillClock().clock,
    metrics,
    log: readableLog().log,
  });
  return {
    consumed,
    driver,
    missing,
    metrics,
    asked: () => asked.mock.calls.map((call) => call.arguments[0]),
  };
}

test('of a graph that replaces another Kafka is asked for the topics that are new, and for no others', async (t) => {
  const { consumed, missing, asked } = setUp(t);
  await consumed.check(named('bids'));
  assert.deepEqual(asked(), []);
  await consumed.check(named('bids', 'orders'));
  assert.deepEqual(asked(), [['orders']]);
  // What has gone since is no fault of the graph that comes.
  missing.add('bids').add('trades');
  const refusal = { code: 'BAD_GRAPH', message: /expected topics that exist in Kafka, got trades:/ };
  await assert.rejects(consumed.check(named('bids', 'orders', 'trades')), refusal);
  assert.deepEqual(consumed.names, ['bids', 'news']);
});

test('topics that match a pattern come and go, with their metrics, and dead letters are none of them', async (t) => {
  const { consumed, driver, metrics } = setUp(t);
  let there = ['bids', 'letters', 'lists'];
  driver.topics = async () => there;
  assert.equal(consumed.replace(topics(topic('bids'), topic('/^l/', { pattern: /^l/ }))), true);
  assert.deepEqual(await consumed.present(), ['bids', 'lists']);
  assert.deepEqual(consumed.of('/^l/'), ['lists']);
  there = ['bids', 'letters', 'lots'];
  assert.deepEqual(await consumed.present(), ['bids', 'lots']);
  const labels = (await metrics.badPartitions.get()).values.map((one) => one.labels['topic']);
  assert.deepEqual(labels, ['bids', 'lots']);
  const isBegun = ['bids', 'lots', 'lists'].map((name) => consumed.matched.matched(name)?.isBegun);
  assert.deepEqual(isBegun, [undefined, true, undefined]);
  // Replacing handles a pattern in another way only.
  assert.equal(
    consumed.replace(topics(topic('bids'), topic('/^l/', { pattern: /^l/, keys: ['id'] }))),
    false,
  );
});

test('a graph that shows dead letters, or of whose topics Kafka says nothing, is refused', async (t) => {
  const { consumed, driver } = setUp(t);
  await assert.rejects(consumed.check(named('letters')), {
    code: 'BAD_SETTINGS',
    message: /DEAD_LETTER_TOPIC/,
  });
  driver.missingTopics = () => Promise.reject(new Error('Kafka is away'));
  await assert.rejects(consumed.check(named('orders')), {
    code: 'KAFKA_FAILED',
    message: /orders: Kafka is away/,
  });
});

test('a graph is another one for the group if its topics are others, and gauges of those that are gone go', async (t) => {
  const { consumed, metrics } = setUp(t);
  await consumed.present();
  assert.equal(consumed.replace(named('news', 'bids')), false);
  assert.equal(consumed.replace(named('news', 'bids', 'orders')), true);
  assert.equal(consumed.replace(named('bids', 'orders')), true);
  assert.deepEqual(consumed.names, ['bids', 'orders']);
  const { values } = await metrics.topicMissing.get();
  assert.deepEqual(
    values.map(({ labels }) => labels['topic']),
    ['bids', 'letters'],
  );
});
