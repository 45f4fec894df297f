import { open } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { startGateway } from '../../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../../helpers/graphql-client.ts';
import { disconnectAfter } from '../../helpers/kafka-client.ts';
import { startOwnKafka } from '../../helpers/own-kafka.ts';
import { needs } from '../../helpers/services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { createTopics } from '../../helpers/topic.ts';

process.env['KAFKA_DRIVER'] = 'platformatic';

/** Bytes of a record batch's header, and where they are. */
for (const [title, at, bytes] of [
  ['a batch of no length', 8, [0, 0, 0, 0]],
  ['a batch of another format', 16, [1]],
] as const) {
  test(
    `${title}, which the broker can’t read, stops its own partition until it is mended`,
    needs('kafka-jars'),
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
      const gateway = await startGateway(t, {
        GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema('items') }),
        KAFKA_BROKERS: kafka.brokers,
        KAFKA_BAD_BATCH: 'skip',
      });
      await gateway.untilReady();
      const received = new Received<{ item: { n: number } }>(
        graphqlClient(t, gateway.graphqlUrl),
        'subscription { item { n } }',
      );
      await gateway.untilMetric('sluice_subscribers', 1);
      const log = await open(path.join(kafka.logFolder, 'items-0', '00000000000000000000.log'), 'r+');
      t.after(() => log.close());
      const present = Buffer.alloc(bytes.length);
      gateway.child.kill('SIGSTOP');
      // The first one is what the fetch that waits gets.
      await send(0, 1);
      const { size } = await log.stat();
      await send(0, 2);
      await log.read(present, 0, present.length, size + at);
      await log.write(Buffer.from(bytes), 0, bytes.length, size + at);
      gateway.child.kill('SIGCONT');
      await gateway.untilMetric('sluice_bad_partitions', 1);
      const { topic, partition, offset, error } = await gateway.untilLine(({ msg }) =>
        msg.includes('is stopped'),
      );
      assert.deepEqual([topic, partition, offset], ['items', 0, 1]);
      assert.match(String(error), /^expected a record batch with the offset 1: /);
      await send(1, 11);
      await received.until(2);
      await log.write(present, 0, present.length, size + at);
      await received.until(3);
      await gateway.untilMetric('sluice_bad_partitions', 0);
      assert.deepEqual(
        received.data.map((data) => data?.item.n),
        [1, 11, 2],
      );
    },
  );
}
