import { open } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { startGateway } from '../../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../../helpers/graphql-client.ts';
import { disconnectAfter } from '../../helpers/kafka-client.ts';
import { startOwnKafka } from '../../helpers/own-kafka.ts';
import { needs, redisUrl } from '../../helpers/services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { beginAt, createTopics } from '../../helpers/topic.ts';

process.env['KAFKA_DRIVER'] = 'platformatic';

const GROUP = 'pods';

/** Bytes of a record batch's header, and where they are. */
for (const [title, at, bytes] of [
  ['a batch of no length', 8, [0, 0, 0, 0]],
  ['a batch of another format', 16, [1]],
] as const) {
  test(
    `${title}, which the broker can’t read, stops its own partition until it is mended`,
    needs('kafka-jars', 'redis'),
    async (t) => {
      const kafka = await startOwnKafka(t, await temporaryFolder(t));
      const admin = kafka.client.admin();
      await admin.connect();
      disconnectAfter(t, admin);
      await createTopics(admin, [{ topic: 'items', numPartitions: 2 }]);
      const producer = kafka.client.producer();
      await producer.connect();
      disconnectAfter(t, producer);
      const send = (partition: number, n: number) =>
        producer.send({ topic: 'items', messages: [{ partition, value: JSON.stringify({ id: 1, n }) }] });
      await send(0, 1);
      const log = await open(path.join(kafka.logFolder, 'items-0', '00000000000000000000.log'), 'r+');
      t.after(() => log.close());
      const { size } = await log.stat();
      await send(0, 2);
      const present = Buffer.alloc(bytes.length);
      await log.read(present, 0, present.length, size + at);
      await log.write(Buffer.from(bytes), 0, bytes.length, size + at);
      await beginAt(admin, GROUP, 'items', [1, 0]);

      const gateway = await startGateway(t, {
        GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema('items') }),
        KAFKA_BROKERS: kafka.brokers,
        KAFKA_GROUP_ID: GROUP,
        REDIS_URL: redisUrl(),
        REDIS_PREFIX: `${randomUUID()}:`,
        KAFKA_BAD_BATCH: 'skip',
      });
      await gateway.untilReady();
      const received = new Received<{ item: { n: number } }>(
        graphqlClient(t, gateway.graphqlUrl),
        'subscription { item { n } }',
      );
      await gateway.untilMetric('sluice_subscribers', 1);
      await gateway.untilMetric('sluice_bad_partitions', 1);
      const { topic, partition, offset, error } = await gateway.untilLine(({ msg }) =>
        msg.includes('is stopped'),
      );
      assert.deepEqual([topic, partition, offset], ['items', 0, 1]);
      assert.match(String(error), /^expected a record batch with the offset 1: /);
      await send(1, 11);
      await received.until(1);
      await log.write(present, 0, present.length, size + at);
      await received.until(2);
      await gateway.untilMetric('sluice_bad_partitions', 0);
      assert.deepEqual(
        received.data.map((data) => data?.item.n),
        [11, 2],
      );
    },
  );
}
