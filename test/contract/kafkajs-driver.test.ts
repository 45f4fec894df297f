import { kafkaClient } from '../helpers/kafka-client.ts';
import { kafkaBrokers, needs } from '../helpers/services.ts';
import { testKafkaDriver } from './kafka-driver.ts';
import { brokerHandle, kafkajsDriver } from './kafkajs-broker.ts';

testKafkaDriver(
  'kafkajs',
  needs('kafka', 'kcat'),
  new Set(['transactions', 'codecs', 'retention']),
  async (t) => ({
    driver: kafkajsDriver(kafkaBrokers().split(',')),
    broker: await brokerHandle(t, kafkaClient()),
  }),
);
