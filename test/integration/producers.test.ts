import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import kafkajs from 'kafkajs';
import { kcat } from '../helpers/kcat.ts';
import { needs } from '../helpers/services.ts';
import { startIngest, useKafka } from './ingest-kafka.ts';
import { range } from '../helpers/numbers.ts';

test('records of each codec that producers use are consumed', needs('kafka', 'kcat'), async (t) => {
  const kafka = await useKafka(t, { partitions: 1 });
  const { seen, metrics } = await startIngest(t, kafka);
  const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
  for (const [index, codec] of codecs.entries()) {
    const lines = range(index * 500, (index + 1) * 500).map((n) => ({ value: JSON.stringify({ n, codec }) }));
    await kcat(t, kafka.topic, lines, codec);
    await kafka.until(() => seen.messages.length >= (index + 1) * 500, seen);
  }
  assert.deepEqual(
    seen.messages.map(({ event }) => event['n']),
    range(0, codecs.length * 500),
  );
  const { values } = await metrics.consumerRestarts.get();
  assert.equal(values[0]?.value, 0);
});

/** Three kilobytes, so that transactions stretch over several fetches. */
const PADDING = 'x'.repeat(3_000);

test('of interleaved transactions exactly the committed ones are delivered', needs('kafka'), async (t) => {
  const kafka = await useKafka(t, { partitions: 1 });
  const client = new kafkajs.Kafka({ brokers: kafka.brokers, logLevel: kafkajs.logLevel.NOTHING });
  const producers = await Promise.all(
    range(0, 5).map(async () => {
      const producer = client.producer({
        transactionalId: randomUUID(),
        idempotent: true,
        maxInFlightRequests: 1,
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      });
      await producer.connect();
      t.after(() => producer.disconnect());
      return producer;
    }),
  );
  const { seen } = await startIngest(t, kafka);
  const sent: number[] = [];
  let n = 0;
  for (let round = 0; round < 3; round += 1) {
    const transactions = await Promise.all(producers.map((producer) => producer.transaction()));
    for (let turn = 0; turn < 30; turn += 1) {
      for (const [index, transaction] of transactions.entries()) {
        const isCommitted = (index + round) % 3 === 0;
        n += 1;
        if (isCommitted) sent.push(n);
        const key = turn % 7 === 0 ? Buffer.from([0, 0, 0, 0]) : null;
        await transaction.send({
          topic: kafka.topic,
          messages: [{ key, value: JSON.stringify({ n, padding: PADDING }) }],
        });
      }
    }
    for (const [index, transaction] of transactions.entries()) {
      await ((index + round) % 3 === 0 ? transaction.commit() : transaction.abort());
    }
  }
  await kafka.send([{ value: '{"n":0}' }]);
  await kafka.until(() => seen.messages.at(-1)?.event['n'] === 0, seen);
  assert.deepEqual(
    seen.messages.map(({ event }) => event['n']),
    [...sent, 0],
  );
});

test(
  'a record with 12,000 headers is consumed within a session, and those behind it too',
  needs('kafka'),
  async (t) => {
    const kafka = await useKafka(t, { partitions: 1 });
    const { seen } = await startIngest(t, kafka);
    const before = await kafka.memberIds();
    const headers = Object.fromEntries(range(0, 12_000).map((index) => [`header-${index}`, 'v']));
    await kafka.send([{ value: '{"n":1}', headers }, { value: '{"n":2}' }]);
    await kafka.until(() => seen.messages.length === 2, seen);
    await kafka.committed(2);
    assert.deepEqual(await kafka.memberIds(), before);
  },
);
