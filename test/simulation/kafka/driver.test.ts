import { after } from 'node:test';
import { StartPositions } from '../../../src/ingest/kafka/start-positions.ts';
import { testKafkaDriver } from '../../contract/kafka-driver.ts';
import { Random } from '../../helpers/random.ts';
import { VirtualTime } from '../time/virtual-time.ts';
import { SimulatedKafka } from './cluster.ts';
import { SimulatedDriver } from './driver.ts';
import { simulatedBroker } from './simulated-broker.ts';

const time = new VirtualTime();
const kafka = new SimulatedKafka(time);
let over = false;
const ended = time.accompany(() => over, 5);
// Not after each check: its members are stopped last, and need time to go on.
after(() => {
  over = true;
  return ended;
});

testKafkaDriver('simulated kafka', { timeout: 120_000 }, new Set(), async () => {
  const pod = { name: 'pod', state: 'running' as const };
  return {
    driver: new SimulatedDriver(kafka, pod, Random.of(1, 'kafka'), new StartPositions()),
    broker: simulatedBroker(kafka),
  };
});
