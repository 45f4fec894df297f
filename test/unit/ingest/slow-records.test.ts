import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Topic } from '../../../src/graph/graph.ts';
import { DecodeError } from '../../../src/events/decode-error.ts';
import { Pipeline } from '../../../src/ingest/pipeline.ts';
import type { KafkaRecord } from '../../../src/ingest/record.ts';
import { RoutedEvent } from '../../../src/ingest/routed-event.ts';
import { SlowRecords } from '../../../src/ingest/slow-records.ts';
import { Metrics } from '../../../src/metrics.ts';
import { readableLog, record, topic, topics } from './parts.ts';

/** A pipeline whose topic's decode takes as many ms as the value says. */
function setUp(options: Partial<Topic> = {}) {
  let now = 0;
  let decoded = 0;
  const { log, lines } = readableLog();
  const decode: Topic['decode'] = ({ value }) => {
    now += Number(value);
    decoded += 1;
    return { id: 1 };
  };
  const pipeline = new Pipeline({
    topics: topics(topic('bids', { decode, ...options })),
    prefix: '',
    maxAgeSeconds: 0,
    metrics: new Metrics(),
    log,
    now: () => now,
  });
  const attempt = async (tried: KafkaRecord) => {
    const routed = await pipeline.route(tried);
    const result = routed instanceof RoutedEvent ? await routed.encode() : routed;
    return result instanceof DecodeError ? result.reason : 'published';
  };
  return { attempt, lines, decoded: () => decoded };
}

test('a message that takes longer than 2 s to decode is a dead letter at the second try, and not tried again', async () => {
  const { attempt, decoded, lines } = setUp();
  const slow = record('2000');
  for (const expected of ['published', 'too_slow', 'too_slow']) assert.equal(await attempt(slow), expected);
  assert.equal(decoded(), 2);
  const told = { level: 40, topic: 'bids', partition: 2, offset: 7, ms: 2_000 };
  assert.deepEqual(
    lines.map(({ level, topic: name, partition, offset, ms, tries }) => {
      return { level, topic: name, partition, offset, ms, tries };
    }),
    [1, 2].map((tries) => ({ ...told, tries })),
  );
});

test('one slow try is no fault of the message: the process may have stood still', async () => {
  const { attempt } = setUp();
  for (const ms of ['2000', '0', '1999']) assert.equal(await attempt(record(ms)), 'published', ms);
});

test('a message that is slow to decode and slow to transform has been tried once', () => {
  const now = 10_000;
  const slow = new SlowRecords({ log: readableLog().log, now: () => now });
  const tried = record('');
  slow.note(tried, now - 2_000, 1);
  slow.note(tried, now - 2_000, 1);
  assert.equal(slow.isGivenUp(tried), false);
  slow.note(tried, now - 2_000, 2);
  assert.equal(slow.isGivenUp(tried), true);
});

test('messages are told apart by topic, partition and offset', async () => {
  const { attempt } = setUp();
  const slow = [{}, { topicId: 'A' }, { topicId: 'B' }, { partition: 3 }, { offset: 8 }].map((options) =>
    record('2000', options),
  );
  for (const one of slow) assert.equal(await attempt(one), 'published');
  for (const one of slow) assert.equal(await attempt(one), 'too_slow');
});

test('a message that is decoded after its channels are known is given up likewise', async () => {
  const { attempt } = setUp({ keys: ['id'], kafkaKey: 'id' });
  const slow = record('2000', { key: Buffer.from('1') });
  assert.deepEqual([await attempt(slow), await attempt(slow)], ['published', 'too_slow']);
});
