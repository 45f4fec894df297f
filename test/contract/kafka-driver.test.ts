import { kafkaClient } from '../helpers/kafka-client.ts';
import { kafkaBrokers, needs } from '../helpers/services.ts';
import { testKafkaDriver } from './kafka-driver.ts';
import { DRIVERS } from './kafka-drivers.ts';
import { brokerHandle } from './kafkajs-broker.ts';

for (const { name, make } of DRIVERS) {
  testKafkaDriver(
    name,
    needs('kafka', 'kcat'),
    new Set(['transactions', 'codecs', 'retention']),
    async (t) => ({
      driver: make(kafkaBrokers().split(',')),
      broker: await brokerHandle(t, kafkaClient()),
    }),
  );
}
