import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { startGateway, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { beginAt } from '../helpers/group-offsets.ts';
import { kafkaAdmin, kafkaProducer } from '../helpers/kafka-client.ts';
import { itemLines } from '../helpers/kcat.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { fileScope, type Scope } from '../helpers/scope.ts';
import { testNeeding, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

const test = testNeeding('kafka-jars', 'redis');

const scope = fileScope();
let starting: ReturnType<typeof startKafka> | undefined;

async function startKafka(of: Scope) {
  const kafka = await startOwnKafka(of, await temporaryFolder(of));
  const [admin, producer] = [await kafkaAdmin(of, kafka.client), await kafkaProducer(of, kafka.client)];
  return { kafka, admin, producer };
}

/**
 * Bytes of a record batch's header, and where they are. Only platformatic stops the partition if it can't tell where a batch
 * ends. In format 1 a codec follows, where format 2 has its checksum: with one that there is the broker may send the batch.
 * Batches whose end is known are in the contract of drivers, and what a gateway does with them in unit tests.
 */
for (const [title, at, bytes] of [
  ['a batch of no length', 8, [0, 0, 0, 0]],
  ['a batch of another format', 16, [1, 5]],
] as const) {
  test(`platformatic: ${title}, which the broker can’t read, stops its own partition until it is mended`, async (t) => {
    const { kafka, admin, producer } = await (starting ??= startKafka(scope));
    const [topic, dead] = [`items-${randomUUID()}`, `dead-${randomUUID()}`];
    await createTopics(admin, [{ topic, numPartitions: 2 }, { topic: dead }]);
    const send = (partition: number, n: number) =>
      producer.send({ topic, messages: itemLines([n]).map((line) => ({ ...line, partition })) });
    const serving = {
      GRAPH: await itemGraph(t, topic),
      REDIS_URL: redisUrl(),
      REDIS_PREFIX: `${topic}:`,
    };
    const received = await subscribed(t, await startGateway(t, serving));
    await send(0, 1);
    const log = await open(path.join(kafka.logFolder, `${topic}-0`, '00000000000000000000.log'), 'r+');
    t.after(() => log.close());
    const { size } = await log.stat();
    await send(0, 2);
    const present = Buffer.alloc(bytes.length);
    await log.read(present, 0, present.length, size + at);
    await log.write(Buffer.from(bytes), 0, bytes.length, size + at);

    // A broker that is asked from the batch before on may send this one behind it, without looking at it.
    await beginAt(kafka.brokers, topic, topic, { 0: 1, 1: 0 });
    const gateway = await startReady(t, {
      ...serving,
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_GROUP_ID: topic,
      KAFKA_DRIVER: 'platformatic',
      KAFKA_BAD_BATCH: 'skip',
      DEAD_LETTER_TOPIC: dead,
    });
    await gateway.untilMetric('sluice_bad_partitions', 1);
    const line = await gateway.untilLine(({ msg }) => msg.includes('is stopped'));
    assert.deepEqual([line['topic'], line['partition'], line['offset']], [topic, 0, 1]);
    assert.match(String(line['error']), /^expected a record batch with the offset 1: /);
    await send(1, 11);
    await received.until(1);
    assert.deepEqual(numbersOf(received), [11]);
    await log.write(present, 0, present.length, size + at);
    await received.until(2);
    await gateway.untilMetric('sluice_bad_partitions', 0);
    assert.deepEqual(numbersOf(received), [11, 2]);
  });
}
