import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../src/events/message.ts';
import { eventually } from '../helpers/eventually.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { needs } from '../helpers/services.ts';
import { startIngest, useKafka, type TestKafka } from './ingest-kafka.ts';
import { range } from '../helpers/numbers.ts';

const OPTIONS = needs('kafka');

/** Soon enough for a test; in production it is 20 s. */
const metadataMaxAgeMs = 1_000;

const numbersOf = (messages: readonly Message[]) =>
  messages.map(({ event }) => Number(event['n'])).toSorted((one, other) => one - other);

const idsOf = (messages: readonly Message[]) => new Set(messages.map(({ id }) => id));

/** By a producer that has yet to ask for the topic's partitions. */
async function send({ topic }: TestKafka, numbers: readonly number[], partitions: number): Promise<void> {
  const producer = kafkaClient().producer();
  await producer.connect();
  // One after the other, since the broker may take a moment to lead a new partition, and what it took is not to be repeated.
  for (const partition of range(0, partitions)) {
    const own = numbers.filter((n) => n % partitions === partition);
    const messages = own.map((n) => ({ partition, value: JSON.stringify({ n }) }));
    await eventually(() => producer.send({ topic, messages }));
  }
  await producer.disconnect();
}

test('events that producers put into a new partition at once all arrive', OPTIONS, async (t) => {
  const kafka = await useKafka(t, { partitions: 1 });
  await send(kafka, range(0, 10), 1);
  const { seen } = await startIngest(t, kafka, { metadataMaxAgeMs });
  await kafka.admin.createPartitions({ topicPartitions: [{ topic: kafka.topic, count: 6 }] });
  for (const first of range(0, 10)) await send(kafka, range(100 + first * 60, 160 + first * 60), 6);
  await kafka.until(() => seen.messages.length >= 600, seen);
  assert.deepEqual(numbersOf(seen.messages), range(100, 700));
});

test('partitions that are added while no pod runs are consumed from their beginning', OPTIONS, async (t) => {
  const kafka = await useKafka(t, { partitions: 1 });
  const first = await startIngest(t, kafka);
  await first.ingest.stop();
  await kafka.admin.createPartitions({ topicPartitions: [{ topic: kafka.topic, count: 3 }] });
  await send(kafka, range(0, 30), 3);
  const { seen } = await startIngest(t, kafka);
  await kafka.until(() => seen.messages.length >= 30, seen);
  assert.deepEqual(numbersOf(seen.messages), range(0, 30));
});

test('two pods that start together in a new group replay nothing of the log', OPTIONS, async (t) => {
  const kafka = await useKafka(t, { partitions: 6 });
  await send(kafka, range(0, 60), 6);
  const pods = await Promise.all([startIngest(t, kafka), startIngest(t, kafka)]);
  await kafka.membersAssigned(2);
  const all = () => pods.flatMap(({ seen }) => seen.messages);
  await send(kafka, range(100, 106), 6);
  await kafka.until(() => all().length >= 6, ...pods.map(({ seen }) => seen));
  assert.deepEqual(numbersOf(all()), range(100, 106));
});

test(
  'a topic that is made anew while pods run is consumed from its beginning, under its own id',
  OPTIONS,
  async (t) => {
    const kafka = await useKafka(t, { partitions: 2 });
    const { seen } = await startIngest(t, kafka, { metadataMaxAgeMs });
    await send(kafka, range(0, 10), 2);
    await kafka.until(() => seen.messages.length >= 10, seen);
    await kafka.committed(10);
    await kafka.admin.deleteTopics({ topics: [kafka.topic] });
    await eventually(() => kafka.create());
    await send(kafka, range(100, 140), 2);
    await kafka.until(() => seen.messages.length >= 50, seen);
    assert.deepEqual(numbersOf(seen.messages), [...range(0, 10), ...range(100, 140)]);
    const [before, after] = [idsOf(seen.messages.slice(0, 10)), idsOf(seen.messages.slice(10))];
    assert.deepEqual([before.size, after.size, before.has(undefined)], [1, 1, false]);
    assert.notDeepEqual(before, after);
  },
);

test('a position beyond the end of the log replays nothing, and is told and counted', OPTIONS, async (t) => {
  const kafka = await useKafka(t, { partitions: 1 });
  await send(kafka, range(0, 10), 1);
  const { topic, groupId } = kafka;
  await kafka.admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '1000' }] });
  const { seen, metrics } = await startIngest(t, kafka);
  const text = () => metrics.registry.metrics();
  await kafka.until(async () => /to="end"\} 1\n/.test(await text()), seen);
  await send(kafka, range(100, 103), 1);
  await kafka.until(() => seen.messages.length >= 3, seen);
  assert.deepEqual(numbersOf(seen.messages), range(100, 103));
  await kafka.committed(13);
});

test('a position before the beginning of the log goes on at what retention has left', OPTIONS, async (t) => {
  const kafka = await useKafka(t, { partitions: 1 });
  const { topic } = kafka;
  const first = await startIngest(t, kafka);
  await first.ingest.stop();
  await send(kafka, range(0, 10), 1);
  await kafka.admin.fetchTopicOffsets(topic); // or kafkajs does not know the partition's leader
  await kafka.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '6' }] });
  const { seen, metrics } = await startIngest(t, kafka);
  await kafka.until(() => seen.messages.length >= 4, seen);
  assert.deepEqual(numbersOf(seen.messages), range(6, 10));
  assert.match(
    await metrics.registry.metrics(),
    new RegExp(`sluice_position_resets_total\\{topic="${topic}",to="beginning"\\} 1\n`),
  );
});
