import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { startGateway, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { beginAt } from '../helpers/group-offsets.ts';
import { kafkaAdmin, kafkaProducer } from '../helpers/kafka-client.ts';
import { itemLines } from '../helpers/kcat.ts';
import { flipByteOfBatch } from '../helpers/log-segment.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { fileScope, type Scope } from '../helpers/scope.ts';
import { testNeeding, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';
import { sorted } from '../helpers/numbers.ts';

const test = testNeeding('kafka-jars', 'redis');

const scope = fileScope();
let starting: ReturnType<typeof startKafka> | undefined;

async function startKafka(of: Scope) {
  const kafka = await startOwnKafka(of, await temporaryFolder(of));
  const [admin, producer] = [await kafkaAdmin(of, kafka.client), await kafkaProducer(of, kafka.client)];
  return { kafka, admin, producer };
}

/** A topic of two partitions, and a pod with a subscriber that gets what another one consumes. */
async function setUp(t: TestContext) {
  const { kafka, admin, producer } = await (starting ??= startKafka(scope));
  const [topic, dead] = [`items-${randomUUID()}`, `dead-${randomUUID()}`];
  await createTopics(admin, [{ topic, numPartitions: 2 }, { topic: dead }]);
  const serving = {
    GRAPH: await itemGraph(t, topic),
    REDIS_URL: redisUrl(),
    REDIS_PREFIX: `${topic}:`,
  };
  const received = await subscribed(t, await startGateway(t, serving));
  return {
    admin,
    topic,
    dead,
    folder: path.join(kafka.logFolder, `${topic}-0`),
    received,
    seen: () => sorted(numbersOf(received)),
    /** In one record batch. */
    send: (partition: number, ...numbers: number[]) =>
      producer.send({ topic, messages: itemLines(numbers).map((line) => ({ ...line, partition })) }),
    /** A pod that consumes, ready. @param first where it begins in the first partition */
    consume: async (settings: Readonly<Record<string, string>>, first = 0) => {
      await beginAt(kafka.brokers, topic, topic, { 0: first, 1: 0 });
      return startReady(t, {
        ...serving,
        KAFKA_BROKERS: kafka.brokers,
        KAFKA_GROUP_ID: topic,
        DEAD_LETTER_TOPIC: dead,
        ...settings,
      });
    },
  };
}

/** With two partitions, of which the second batch of the first is damaged. */
async function setUpDamaged(t: TestContext) {
  const set = await setUp(t);
  const flip = () => flipByteOfBatch(set.folder, 1);
  await set.send(0, 1, 2);
  await set.send(0, 3, 4);
  await flip();
  await set.send(0, 5);
  await set.send(1, 11, 12);
  return { ...set, flip };
}

test('a damaged record batch stops its own partition until it can be read, and nothing else', async (t) => {
  const { topic, received, send, flip, seen, consume } = await setUpDamaged(t);
  const gateway = await consume({});
  await gateway.untilMetric('sluice_bad_partitions', 1);
  await send(1, 13);
  await received.until(5);
  assert.deepEqual(seen(), [1, 2, 11, 12, 13]);
  await gateway.untilReady();
  assert.equal(await gateway.metric('sluice_consumer_restarts_total'), 0);
  const line = await gateway.untilLine(({ msg }) => msg.includes('record batch'));
  assert.deepEqual([line['topic'], line['partition'], line['offset']], [topic, 0, 2]);
  assert.match(String(line['error']), /checksum/);

  await flip();
  await received.until(8);
  assert.deepEqual(seen(), [1, 2, 3, 4, 5, 11, 12, 13]);
  await gateway.untilMetric('sluice_bad_partitions', 0);
});

test('with KAFKA_BAD_BATCH=skip the partition goes on behind a damaged batch, and the dead-letter topic names it', async (t) => {
  const { admin, dead, received, seen, consume } = await setUpDamaged(t);
  const gateway = await consume({ KAFKA_BAD_BATCH: 'skip' });
  await received.until(5);
  assert.deepEqual(seen(), [1, 2, 5, 11, 12]);
  assert.equal(await gateway.metric('sluice_bad_batches_total'), 1);
  assert.equal(await gateway.metric('sluice_bad_partitions'), 0);
  const [letters] = await admin.fetchTopicOffsets(dead);
  assert.equal(letters?.high, '1');
});

/**
 * Bytes of a record batch's header, and where they are. Only platformatic stops the partition if it can't tell where a batch
 * ends. In format 1 a codec follows, where format 2 has its checksum: with one that there is the broker may send the batch.
 */
for (const [title, at, bytes] of [
  ['a batch of no length', 8, [0, 0, 0, 0]],
  ['a batch of another format', 16, [1, 5]],
] as const) {
  test(`platformatic: ${title}, which the broker can’t read, stops its own partition until it is mended`, async (t) => {
    const { topic, folder, received, send, seen, consume } = await setUp(t);
    await send(0, 1);
    const log = await open(path.join(folder, '00000000000000000000.log'), 'r+');
    t.after(() => log.close());
    const { size } = await log.stat();
    await send(0, 2);
    const present = Buffer.alloc(bytes.length);
    await log.read(present, 0, present.length, size + at);
    await log.write(Buffer.from(bytes), 0, bytes.length, size + at);

    // A broker that is asked from the batch before on may send this one behind it, without looking at it.
    const gateway = await consume({ KAFKA_DRIVER: 'platformatic', KAFKA_BAD_BATCH: 'skip' }, 1);
    await gateway.untilMetric('sluice_bad_partitions', 1);
    const line = await gateway.untilLine(({ msg }) => msg.includes('is stopped'));
    assert.deepEqual([line['topic'], line['partition'], line['offset']], [topic, 0, 1]);
    assert.match(String(line['error']), /^expected a record batch with the offset 1: /);
    await send(1, 11);
    await received.until(1);
    assert.deepEqual(seen(), [11]);
    await log.write(present, 0, present.length, size + at);
    await received.until(2);
    await gateway.untilMetric('sluice_bad_partitions', 0);
    assert.deepEqual(seen(), [2, 11]);
  });
}
