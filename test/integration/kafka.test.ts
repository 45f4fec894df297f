import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Partitioners, type EachMessagePayload } from 'kafkajs';
import { kcat } from '../helpers/kcat.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { needs } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const PARTITIONS = 3;

test('A consumer gets all lines that kcat sends, in order per key', needs('kafka', 'kcat'), async (t) => {
  const topic = await createTopic(t, { partitions: PARTITIONS });
  const lines = Array.from({ length: 200 }, (_, index) => ({ key: `k${index % 7}`, value: `${index}` }));

  await kcat(t, topic, lines);
  const received = await consume(t, topic, lines.length);

  // Sorting is stable: it keeps the order within a key.
  const messages = received.map(({ key, value }) => ({ key, value }));
  assert.deepEqual(messages.toSorted(byKey), lines.toSorted(byKey));
});

test('kcat puts a key on the same partition as kafkajs', needs('kafka', 'kcat'), async (t) => {
  const topic = await createTopic(t, { partitions: PARTITIONS });
  const lines = Array.from({ length: 20 }, (_, index) => ({ key: `key ${index}`, value: 'v' }));

  await kcat(t, topic, lines);
  await produce(topic, lines);
  const received = await consume(t, topic, 2 * lines.length);

  const places = new Set(received.map(({ key, partition }) => `${key} on ${partition}`));
  assert.equal(places.size, lines.length);
});

test('kcat fails for a topic that does not exist', needs('kafka', 'kcat'), async (t) => {
  await assert.rejects(kcat(t, 'nobody-created-this', [{ value: 'x' }]), /Unknown topic/);
});

interface KeyValue {
  readonly key: string;
  readonly value: string;
}

const byKey = (a: KeyValue, b: KeyValue): number => a.key.localeCompare(b.key);

interface Received extends KeyValue {
  readonly partition: number;
}

async function produce(topic: string, messages: KeyValue[]): Promise<void> {
  const producer = kafkaClient().producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages });
  await producer.disconnect();
}

async function consume(t: TestContext, topic: string, count: number): Promise<Received[]> {
  const consumer = kafkaClient().consumer({ groupId: topic });
  t.after(() => consumer.disconnect());
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  return new Promise((resolve, reject) => {
    const received: Received[] = [];
    const eachMessage = async ({ message, partition }: EachMessagePayload): Promise<void> => {
      received.push({ key: String(message.key), value: String(message.value), partition });
      if (received.length === count) resolve(received);
    };
    consumer.run({ eachMessage }).catch(reject);
  });
}
