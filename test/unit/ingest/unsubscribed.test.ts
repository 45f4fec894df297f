import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KafkaMessage } from '../../../src/events/event.ts';
import type { Topic } from '../../../src/graph/graph.ts';
import type { Metrics } from '../../../src/metrics.ts';
import { range } from '../../helpers/numbers.ts';
import { events, FakeBatch, offsetsOf, setUp } from './kafka/batch-parts.ts';

const count = async (counter: Metrics['unsubscribedEvents']) => (await counter.get()).values[0]?.value ?? 0;

test('the consumer asks the bus once per chunk, for each channel once, before it publishes', async () => {
  const { processor, publisher } = setUp(['id']);
  await processor.process(new FakeBatch(range(0, 700).map((n) => `{"id":${n % 3}}`)));
  assert.deepEqual(publisher.asked, [
    ['bids', 'bids:id=0', 'bids:id=1', 'bids:id=2'],
    ['bids', 'bids:id=2', 'bids:id=0', 'bids:id=1'],
  ]);
});

test('events are published only on channels with subscribers; the other events are counted and committed', async () => {
  const { processor, publisher, metrics } = setUp(['id']);
  publisher.wants = (channel) => channel === 'bids:id=1';
  const batch = new FakeBatch(range(0, 9).map((n) => `{"id":${n % 3}}`));
  await processor.process(batch);
  assert.deepEqual(
    publisher.published.map(({ channel }) => channel),
    ['bids:id=1', 'bids:id=1', 'bids:id=1'],
  );
  assert.deepEqual(offsetsOf(publisher), [1, 4, 7]);
  assert.equal(await count(metrics.unsubscribedEvents), 6);
  assert.deepEqual(batch.committed, [9]);
});

test('an event without a field by which subscriptions pick it is counted as that, and not as unsubscribed', async () => {
  const { processor, publisher, metrics, lines } = setUp(['id', 'seller_id']);
  publisher.wants = () => false;
  const batch = new FakeBatch([
    '{"id":1,"seller_id":2}',
    '{"id":1}',
    '{"id":1,"sellerId":{"nested":2}}',
    '{"id":null,"sellerId":[]}',
    '{"n":1}',
  ]);
  await processor.process(batch);
  const counted = (await metrics.missingKeys.get()).values;
  assert.deepEqual(
    counted.map(({ labels, value }) => [labels.topic, labels.field, value]),
    [
      ['bids', 'id', 1],
      ['bids', 'seller_id', 3],
    ],
  );
  assert.equal(await count(metrics.unsubscribedEvents), 2);
  assert.deepEqual(
    lines
      .filter(({ msg }) => String(msg).startsWith('an event lacks the field'))
      .map(({ topic, offset, field, got }) => [topic, offset, field, got]),
    [
      ['bids', 1, 'seller_id', 'nothing'],
      ['bids', 4, 'id', 'nothing'],
    ],
  );
});

test('without subscribers no event is published, and the committed offset advances', async () => {
  const { processor, publisher, metrics } = setUp();
  publisher.wants = () => false;
  const batch = new FakeBatch(events(1_200));
  await processor.process(batch);
  assert.equal(publisher.attempts, 0);
  assert.deepEqual(batch.committed, [500, 1000, 1200]);
  assert.equal(await count(metrics.unsubscribedEvents), 1_200);
});

test('a subscriber that joins between two chunks gets the second one', async () => {
  const { processor, publisher } = setUp();
  publisher.wants = () => publisher.asked.length > 1;
  await processor.process(new FakeBatch(events(600)));
  assert.deepEqual(offsetsOf(publisher), range(500, 600));
});

test('when the bus cannot be asked, the consumer tries again as for a failed publish, and a subscriber that has joined by then gets all events', async () => {
  const { processor, publisher, clock, metrics } = setUp();
  let joined = false;
  publisher.wants = () => {
    if (clock.waits.length < 3) throw new Error('the bus is away');
    joined = true;
    return joined;
  };
  const batch = new FakeBatch(events(3));
  await processor.process(batch);
  assert.deepEqual(clock.waits, [50, 100, 200]);
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
  assert.deepEqual(batch.committed, [3]);
  assert.equal(await count(metrics.unsubscribedEvents), 0);
});

test('a second attempt does not ask again, and no event is counted twice', async () => {
  const { processor, publisher, metrics } = setUp(['id']);
  publisher.wants = (channel) => channel === 'bids:id=1';
  publisher.failing = (publications) => (publisher.attempts === 1 ? publications.slice(1) : []);
  await processor.process(new FakeBatch([0, 1, 2, 1, 2, 0].map((id) => `{"id":${id}}`)));
  assert.equal(publisher.asked.length, 1);
  assert.deepEqual(offsetsOf(publisher), [1, 3]);
  assert.equal(await count(metrics.unsubscribedEvents), 4);
});

test('a fault inside an event is found only if the event has a subscriber, and counted once', async () => {
  const { processor, publisher, buried, metrics } = setUp(['id']);
  publisher.wants = (channel) => channel === 'bids:id=1';
  publisher.failing = (publications) => (publisher.attempts < 3 ? publications : []);
  const batch = new FakeBatch([
    '{"id":1}',
    '{"id":1,"__proto__":1}',
    '{"id":2,"__proto__":1}',
    '{"id":1}',
    'nope',
  ]);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 3]);
  assert.deepEqual(
    buried.map(({ headers }) => [headers['sluice-offset'], headers['sluice-reason']]),
    [
      ['1', 'forbidden_key'],
      ['4', 'not_json'],
    ],
  );
  const counted = (await metrics.deadLetters.get()).values.map(({ value }) => value);
  assert.deepEqual(counted, [1, 1]);
  assert.equal(await count(metrics.unsubscribedEvents), 1);
  assert.deepEqual(batch.committed, [5]);
});

/** A decode that tells how often it was called. */
function countedDecode() {
  const decode = ({ value }: KafkaMessage) => {
    decode.calls += 1;
    return JSON.parse(value.toString()) as { id: number };
  };
  decode.calls = 0;
  return decode;
}

const byKafkaKey = (decode?: Topic['decode']) => setUp(['id'], { kafkaKey: 'id', decode });

test('by Kafka keys, messages without subscribers are not even decoded', async () => {
  const decode = countedDecode();
  const { processor, publisher, metrics } = byKafkaKey(decode);
  publisher.wants = (channel) => channel === 'bids:id=1';
  const ids = range(0, 50).map((n) => n % 5);
  const batch = new FakeBatch(
    ids.map((id) => `{"id":${id}}`),
    ids.map(String),
  );
  await processor.process(batch);
  assert.deepEqual(
    offsetsOf(publisher),
    range(0, 50).filter((n) => n % 5 === 1),
  );
  // Those ten, and one that is parsed to compare its Kafka key with the event.
  assert.equal(decode.calls, 11);
  assert.equal(await count(metrics.unsubscribedEvents), 40);
  assert.deepEqual(batch.committed, [50]);
});

test('a message without a Kafka key, or with one that is no text, is parsed to find its channels', async () => {
  const { processor, publisher, lines } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids:id=1';
  const batch = new FakeBatch(['{"id":1}', '{"id":1}', '{"id":1}'], ['1', Buffer.from([0xff]), undefined]);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
  assert.deepEqual(lines, []);
});

test('subscribers of the whole topic get every event, with any Kafka key', async () => {
  const { processor, publisher } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids';
  await processor.process(new FakeBatch(['{"id":1}', '{"id":2}', '{}'], ['1', '2', '3']));
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
});

test('by Kafka keys, a message that is no JSON is a dead letter only if its channel has subscribers', async () => {
  const { processor, publisher, buried } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids:id=1';
  const batch = new FakeBatch(['{"id":1}', 'nope', 'nope', '{"id":1}'], ['1', '1', '2', '1']);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 3]);
  assert.equal(buried.length, 1);
  assert.deepEqual(batch.committed, [4]);
});

test('once Kafka keys are found to differ from the events, all messages of the topic are parsed, and one log line says so', async () => {
  const { processor, publisher, metrics, lines } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids:id=1';
  // The first message is always parsed.
  const values = ['{"id":7}', '{"id":1}', '{"id":1}'];
  for (const keys of [
    ['a', 'b', 'c'],
    ['1', '1', 'd'],
  ])
    await processor.process(new FakeBatch(values, keys));
  assert.deepEqual(offsetsOf(publisher), [1, 2, 1, 2]);
  assert.equal(await count(metrics.kafkaKeyMismatches), 5);
  assert.equal(lines.filter(({ msg }) => String(msg).includes('KAFKA_KEY')).length, 1);
});
