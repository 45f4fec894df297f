import assert from 'node:assert/strict';
import test from 'node:test';
import { kafkaAdmin } from '../helpers/kafka-client.ts';
import { kafkaBrokers, needs } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { testKafkaDriver } from './kafka-driver.ts';
import { DRIVERS } from './kafka-drivers.ts';
import { TestMember } from './kafka-member.ts';
import { sharedBroker } from './kafkajs-broker.ts';

for (const { name, make } of DRIVERS) {
  testKafkaDriver(
    name,
    needs('kafka', 'kcat'),
    new Set(['transactions', 'codecs', 'retention', 'headers', 'size limit']),
    async (t) => ({ driver: make(kafkaBrokers().split(',')), broker: await sharedBroker(t) }),
  );

  // The client that asks can describe classic groups only; both of platformatic's connect by the same code.
  if (name.includes('consumer')) continue;

  test(`${name}: brokers know a member by its client id`, needs('kafka'), async (t) => {
    const topic = await createTopic(t);
    const driver = make(kafkaBrokers().split(','), { KAFKA_CLIENT_ID: 'a gateway' });
    await new TestMember(driver, { groupId: topic, topics: [topic] }).start(t);
    const { groups } = await (await kafkaAdmin(t)).describeGroups([topic]);
    const clientIds = groups.flatMap(({ members }) => members.map(({ clientId }) => clientId));
    assert.deepEqual(clientIds, ['a gateway']);
  });
}
