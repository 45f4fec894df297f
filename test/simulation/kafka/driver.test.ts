import { after } from 'node:test';
import { StartPositions } from '../../../src/ingest/kafka/start-positions.ts';
import type { BrokerHandle } from '../../contract/kafka-broker.ts';
import { testKafkaDriver } from '../../contract/kafka-driver.ts';
import { Random } from '../../helpers/random.ts';
import { VirtualTime } from '../time/virtual-time.ts';
import { SimulatedKafka } from './cluster.ts';
import { SimulatedDriver } from './driver.ts';

const notSimulated = (what: string): Promise<never> =>
  Promise.reject(new Error(`expected no check to need ${what}: they are not simulated`));

/** The Kafka that the contract suite of drivers needs. */
function simulatedBroker(kafka: SimulatedKafka): BrokerHandle {
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

const time = new VirtualTime();
const kafka = new SimulatedKafka(time);
let over = false;
const ended = time.accompany(() => over, 5);
// Not after each check: the suite stops its members last, and they need time for that.
after(() => {
  over = true;
  return ended;
});

testKafkaDriver('simulated kafka', { timeout: 120_000 }, new Set(), async () => {
  const pod = { name: 'pod', state: 'running' as const };
  return {
    driver: new SimulatedDriver(kafka, pod, Random.of(1, 'kafka'), {
      starts: new StartPositions(),
      namesEpochs: true,
    }),
    broker: simulatedBroker(kafka),
  };
});
