import type { BrokerHandle } from '../../contract/kafka-broker.ts';
import type { SimulatedKafka } from './cluster.ts';

const notSimulated = (what: string): Promise<never> =>
  Promise.reject(new Error(`expected no check to need ${what}: they are not simulated`));

/** What the contract suite of drivers asks of a Kafka. */
export function simulatedBroker(kafka: SimulatedKafka): BrokerHandle {
  return {
    createTopic: async (topic, partitions) => kafka.create(topic, partitions),
    deleteTopic: async (topic) => kafka.delete(topic),
    addPartitions: async (topic, total) => kafka.addPartitions(topic, total),
    produce: async (topic, partition, values) => {
      for (const value of values) kafka.produce(topic, partition, { key: null, value: Buffer.from(value) });
    },
    committed: async (groupId, topic) =>
      kafka
        .topic(topic)
        .partitions.map((_, partition) => kafka.group(groupId).committed({ topic, partition })?.offset),
    setCommitted: async (groupId, topic, partition, offset) =>
      kafka.group(groupId).setCommitted({ topic, partition }, offset),
    deleteRecords: () => notSimulated('retention'),
    transaction: () => notSimulated('transactions'),
    produceWith: () => notSimulated('codecs'),
  };
}
