import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { PlatformaticDriver } from '../../src/ingest/kafka/platformatic/driver.ts';
import { kafkaConnection } from '../../src/ingest/kafka/connection.ts';
import { createLog } from '../../src/log.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { kafkaBrokers, needs } from '../helpers/services.ts';
import { PLAIN_KAFKA } from '../helpers/source-settings.ts';
import { range } from './kafka-checks.ts';
import { DRIVERS } from './kafka-drivers.ts';
import { TestMember } from './kafka-member.ts';
import { brokerHandle } from './kafkajs-broker.ts';

const OPTIONS = needs('kafka');

test(
  'pods of which one has another driver share a group, and take each other’s partitions over',
  OPTIONS,
  async (t) => {
    const broker = await brokerHandle(t, kafkaClient());
    const topic = `topic-${randomUUID()}`;
    const options = { groupId: `group-${topic}`, topics: [topic] };
    await broker.createTopic(topic, 4);
    const members: TestMember[] = [];
    for (const { make } of DRIVERS) {
      members.push(await new TestMember(make(kafkaBrokers().split(',')), options).start(t));
    }
    const [first, second] = members as [TestMember, TestMember];
    await first.until(() => first.partitions === 2 && second.partitions === 2);
    for (const partition of [0, 1, 2, 3]) await broker.produce(topic, partition, range(0, 5));
    await first.until(() => first.committed + second.committed === 20);
    await first.member.stop();
    await second.until(() => second.partitions === 4);
    for (const partition of [0, 1, 2, 3]) await broker.produce(topic, partition, range(5, 10));
    await second.until(() => second.committed + first.committed === 40);
    // Positions of the one are positions of the other: nothing comes twice.
    for (const partition of [0, 1, 2, 3]) {
      assert.deepEqual([...first.values(partition), ...second.values(partition)], range(0, 10));
    }
  },
);

test(
  'a member that is back under its name has its partitions at once, and no other member joins anew',
  OPTIONS,
  async (t) => {
    const broker = await brokerHandle(t, kafkaClient());
    const topic = `topic-${randomUUID()}`;
    const options = { groupId: `group-${topic}`, topics: [topic] };
    await broker.createTopic(topic, 4);
    const member = (instanceId: string) => {
      const connection = kafkaConnection(
        { ...PLAIN_KAFKA, KAFKA_BROKERS: kafkaBrokers().split(',') },
        createLog('silent'),
      );
      return new TestMember(new PlatformaticDriver(connection, { instanceId }), options);
    };
    const first = await member('pod-0').start(t);
    const second = await member('pod-1').start(t);
    await first.until(() => first.partitions === 2 && second.partitions === 2);
    const [own] = second.assignments.slice(-1);
    const joins = first.assignments.length;
    await second.member.stop();
    for (const partition of [0, 1, 2, 3]) await broker.produce(topic, partition, range(0, 5));
    await first.until(() => first.committed === 10);
    const back = await member('pod-1').start(t);
    assert.deepEqual(back.assignments, [own]);
    await back.until(() => back.committed === 10);
    assert.equal(first.assignments.length, joins);
    // Another one of that name takes its place, which is told to the operator of the one that loses it.
    const impostor = await member('pod-1').start(t);
    await back.until(() => back.crash !== undefined);
    assert.match(
      String(back.crash?.message),
      /^KAFKA_INSTANCE_ID: expected a name that no other member of the group has, got pod-1/,
    );
    assert.equal(impostor.crash, undefined);
  },
);
