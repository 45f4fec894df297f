import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Kafka, Producer } from 'kafkajs';
import { eventually } from '../helpers/eventually.ts';
import { beginAt } from '../helpers/group-offsets.ts';
import { kafkaAdmin, kafkaClient, kafkaProducer } from '../helpers/kafka-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { kafkaBrokers } from '../helpers/services.ts';
import { createTopics } from '../helpers/topic.ts';
import type { BrokerHandle, TransactionHandle } from './kafka-broker.ts';

/** The one that `npm test` brings up. Needs 'kafka'. */
export const sharedBroker = (t: TestContext): Promise<BrokerHandle> =>
  brokerHandle(t, { client: kafkaClient(), brokers: kafkaBrokers() });

/** A real broker. It stays connected until the test ends. */
export async function brokerHandle(
  t: TestContext,
  { client: kafka, brokers }: { readonly client: Kafka; readonly brokers: string },
): Promise<BrokerHandle> {
  const admin = await kafkaAdmin(t, kafka);

  return {
    createTopic: (topic, partitions) => createTopics(admin, [{ topic, numPartitions: partitions }]),
    deleteTopic: async (topic) => {
      await admin.deleteTopics({ topics: [topic] });
      // The controller has done so; brokers may take a moment.
      await eventually(async () => assert.ok(!(await admin.listTopics()).includes(topic)));
    },
    addPartitions: async (topic, total) => {
      await admin.createPartitions({ topicPartitions: [{ topic, count: total }] });
    },
    produce: async (topic, partition, values, headers = {}) => {
      // One that has yet to ask for the topic's partitions; and the broker may take a moment to lead them.
      const producer = await kafkaProducer(t, kafka);
      const messages = values.map((value) => ({ partition, value, headers }));
      await eventually(() => producer.send({ topic, messages }));
    },
    committed: async (groupId, topic) => {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const partitions = (found?.partitions ?? []).toSorted((one, other) => one.partition - other.partition);
      return partitions.map(({ offset }) => (offset === '-1' ? undefined : Number(offset)));
    },
    setCommitted: (groupId, topic, partition, offset) =>
      beginAt(brokers, groupId, topic, { [partition]: offset }),
    deleteRecords: async (topic, partition, before) => {
      await admin.fetchTopicOffsets(topic); // or kafkajs does not know who leads the partition
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] });
    },
    transaction: async () => transactionOf(await kafkaProducer(t, kafka, transactional())),
    produceWith: async (codec, topic, values) => {
      const lines = values.map((value) => ({ value }));
      await kcat(t, topic, lines, codec);
    },
  };
}

/** Version 0, type 0: of a transaction that is aborted. */
const ABORT_KEY = Buffer.alloc(4);

const transactional = () => ({ transactionalId: randomUUID(), idempotent: true, maxInFlightRequests: 1 });

async function transactionOf(producer: Producer): Promise<TransactionHandle> {
  const transaction = await producer.transaction();
  return {
    produce: async (topic, partition, values) => {
      const messages = values.map((value) => ({ partition, key: ABORT_KEY, value }));
      await transaction.send({ topic, messages });
    },
    commit: () => transaction.commit(),
    abort: () => transaction.abort(),
  };
}
