import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KafkaMessage } from '../../../src/events/event.ts';
import type { Topic } from '../../../src/graph/graph.ts';
import type { Publication } from '../../../src/events/publisher.ts';
import { range } from '../../helpers/numbers.ts';
import { events, FakeBatch, setUp } from './kafka/batch-parts.ts';

interface Consumed extends Partial<Topic> {
  readonly messageKeys?: readonly (string | Buffer | undefined)[];
  readonly wants?: (channel: string, asked: number) => boolean;
  /** By the attempt. */
  readonly failing?: (batch: readonly Publication[], attempt: number) => readonly Publication[];
}

/** Consumes a batch of these; only `bids:id=1` has subscribers, unless the test says otherwise. */
async function consume(
  values: string[],
  { messageKeys, wants = (channel) => channel === 'bids:id=1', failing, ...topic }: Consumed = {},
) {
  const parts = setUp({ keys: ['id'], ...topic });
  const { publisher, metrics } = parts;
  publisher.wants = (channel) => wants(channel, publisher.asked.length);
  if (failing) publisher.failing = (batch) => failing(batch, publisher.attempts);
  const { committed } = await parts.consume(new FakeBatch(values, messageKeys));
  const unsubscribed = (await metrics.unsubscribedEvents.get()).values[0]?.value ?? 0;
  return { ...parts, committed, published: parts.offsets(), unsubscribed };
}

const withIds = (ids: readonly number[]): string[] => ids.map((id) => `{"id":${id}}`);

test('the consumer asks the bus once per chunk, for each channel once, before it publishes', async () => {
  const { publisher } = await consume(withIds(range(0, 700).map((n) => n % 3)));
  assert.deepEqual(publisher.asked, [
    ['bids', 'bids:id=0', 'bids:id=1', 'bids:id=2'],
    ['bids', 'bids:id=2', 'bids:id=0', 'bids:id=1'],
  ]);
});

test('an event without a field by which subscriptions pick it is counted as that, and not as unsubscribed', async () => {
  const values = [
    '{"id":1,"seller_id":2}',
    '{"id":1}',
    '{"id":1,"sellerId":{"nested":2}}',
    '{"id":null,"sellerId":[]}',
    '{"n":1}',
  ];
  const { metrics, lines, unsubscribed } = await consume(values, {
    keys: ['id', 'seller_id'],
    wants: () => false,
  });
  assert.deepEqual(
    (await metrics.missingKeys.get()).values.map(({ labels, value }) => [labels.topic, labels.field, value]),
    [
      ['bids', 'id', 1],
      ['bids', 'seller_id', 3],
    ],
  );
  assert.equal(unsubscribed, 2);
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

test('an event lacks a nested key unless it has a value or null there, or null in place of an object on the way', async () => {
  const values = [
    '{"seller":{"id":1}}',
    '{"seller":{"id":null}}',
    '{"seller":null}',
    '{"seller":{"id":[]}}',
    '{}',
    '{"seller":{}}',
    '{"seller":[{"id":1}]}',
    '{"seller":{"id":{}}}',
  ];
  const { metrics, unsubscribed } = await consume(values, { keys: ['seller.id'], wants: () => false });
  assert.deepEqual((await metrics.missingKeys.get()).values, [
    { labels: { topic: 'bids', field: 'seller.id' }, value: 4 },
  ]);
  assert.equal(unsubscribed, 4);
});

test('without subscribers no event is published, and the committed offset advances', async () => {
  const { publisher, committed, unsubscribed } = await consume(events(1_200), {
    keys: [],
    wants: () => false,
  });
  assert.equal(publisher.attempts, 0);
  assert.deepEqual(committed, [500, 1000, 1200]);
  assert.equal(unsubscribed, 1_200);
});

test('a subscriber that joins between two chunks gets the second one', async () => {
  const { published } = await consume(events(600), { wants: (_channel, asked) => asked > 1 });
  assert.deepEqual(published, range(500, 600));
});

test('when the bus cannot be asked, the consumer tries again as for a failed publish, and a subscriber that has joined by then gets all events', async () => {
  const { clock, committed, published, unsubscribed } = await consume(events(3), {
    keys: [],
    wants: (_channel, asked) => asked > 3 || assert.fail('the bus is away'),
  });
  assert.deepEqual(clock.waits, [50, 100, 200]);
  assert.deepEqual([published, committed, unsubscribed], [[0, 1, 2], [3], 0]);
});

test('a second attempt does not ask again, and no event is counted twice', async () => {
  const { publisher, published, unsubscribed } = await consume(withIds([0, 1, 2, 1, 2, 0]), {
    failing: (batch, attempt) => (attempt === 1 ? batch.slice(1) : []),
  });
  assert.equal(publisher.asked.length, 1);
  assert.deepEqual([published, unsubscribed], [[1, 3], 4]);
});

test('a fault inside an event is found only if the event has a subscriber, and counted once', async () => {
  const values = ['{"id":1}', '{"id":1,"__proto__":1}', '{"id":2,"__proto__":1}', '{"id":1}', 'nope'];
  const { buriedAs, metrics, committed, published, unsubscribed } = await consume(values, {
    failing: (publications, attempt) => (attempt < 3 ? publications : []),
  });
  assert.equal(buriedAs().join(' '), '1,forbidden_key 4,not_json');
  const counted = (await metrics.deadLetters.get()).values.map(({ value }) => value);
  assert.deepEqual(counted, [1, 1]);
  assert.deepEqual([published, committed, unsubscribed], [[0, 3], [5], 1]);
});

test('by Kafka keys, messages without subscribers are not even decoded', async () => {
  let calls = 0;
  const decode = ({ value }: KafkaMessage) => {
    calls += 1;
    return JSON.parse(value.toString()) as { id: number };
  };
  const ids = range(0, 50).map((n) => n % 5);
  const { committed, published, unsubscribed } = await consume(withIds(ids), {
    messageKeys: ids.map(String),
    kafkaKey: 'id',
    decode,
  });
  assert.deepEqual(
    published,
    range(0, 50).filter((n) => n % 5 === 1),
  );
  // Those ten, and one that is parsed to compare its Kafka key with the event.
  assert.equal(calls, 11);
  assert.deepEqual([committed, unsubscribed], [[50], 40]);
});

test('a message without a Kafka key, or with one that is no text, is parsed to find its channels', async () => {
  const messageKeys = ['1', Buffer.from([0xff]), undefined];
  const { published, lines } = await consume(withIds([1, 1, 1]), { messageKeys, kafkaKey: 'id' });
  assert.deepEqual([published, lines], [[0, 1, 2], []]);
});

test('subscribers of the whole topic get every event, with any Kafka key', async () => {
  const { published } = await consume(['{"id":1}', '{"id":2}', '{}'], {
    messageKeys: ['1', '2', '3'],
    wants: (channel) => channel === 'bids',
    kafkaKey: 'id',
  });
  assert.deepEqual(published, [0, 1, 2]);
});

test('by Kafka keys, a message that is no JSON is a dead letter only if its channel has subscribers', async () => {
  const { buried, committed, published } = await consume(['{"id":1}', 'nope', 'nope', '{"id":1}'], {
    messageKeys: ['1', '1', '2', '1'],
    kafkaKey: 'id',
  });
  assert.deepEqual([published, buried.length, committed], [[0, 3], 1, [4]]);
});

test('once Kafka keys are found to differ from the events, all messages of the topic are parsed, and one log line says so', async () => {
  // The first message is always parsed.
  const values = withIds([7, 1, 1]);
  const first = { messageKeys: ['a', 'b', 'c'], kafkaKey: 'id' };
  const { consume: consumeMore, offsets, metrics, lines } = await consume(values, first);
  await consumeMore(new FakeBatch(values, ['1', '1', 'd']));
  assert.deepEqual(offsets(), [1, 2, 1, 2]);
  assert.equal((await metrics.kafkaKeyMismatches.get()).values[0]?.value, 5);
  assert.equal(lines.filter(({ msg }) => String(msg).includes('KAFKA_KEY')).length, 1);
});
