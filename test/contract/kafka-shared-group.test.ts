import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatformaticDriver } from '../../src/ingest/kafka/platformatic/driver.ts';
import { kafkaConnection } from '../../src/ingest/kafka/connection.ts';
import { createLog } from '../../src/log.ts';
import { kafkaBrokers, testNeeding } from '../helpers/services.ts';
import { PLAIN_KAFKA } from '../helpers/source-settings.ts';
import { range } from './kafka-checks.ts';
import { DRIVERS, type DriverMaker } from './kafka-drivers.ts';
import { TestMember, TIMING } from './kafka-member.ts';
import { sharedBroker } from './kafkajs-broker.ts';

const test = testNeeding('kafka');

const [kafkajs, ...others] = DRIVERS as [DriverMaker, ...DriverMaker[]];

for (const other of others) {
  for (const order of [
    [kafkajs, other],
    [other, kafkajs],
  ] as const) {
    const names = order.map(({ name }) => name).join(', then ');
    test(`members with other drivers share a group, and take each other’s partitions over: ${names}`, async (t) => {
      const broker = await sharedBroker(t);
      const topic = `topic-${randomUUID()}`;
      const options = { groupId: `group-${topic}`, topics: [topic] };
      await broker.createTopic(topic, 4);
      const members: TestMember[] = [];
      for (const { make } of order) {
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
    });
  }
}

for (const groupProtocol of ['classic', 'consumer'] as const) {
  const named = (instanceId: string) => {
    const settings = { ...PLAIN_KAFKA, KAFKA_BROKERS: kafkaBrokers().split(',') };
    const connection = kafkaConnection(settings, createLog('silent'));
    return new PlatformaticDriver(connection, { instanceId, groupProtocol, log: createLog('silent') });
  };

  test(`${groupProtocol}: a member that is back under its name has its partitions at once, and no other member joins anew`, async (t) => {
    const broker = await sharedBroker(t);
    const topic = `topic-${randomUUID()}`;
    // Its partitions wait for the member that is stopped for longer than a slow test takes to start it again.
    const timing = { ...TIMING, sessionTimeoutMs: 30_000 };
    const options = { groupId: `group-${topic}`, topics: [topic], timing };
    await broker.createTopic(topic, 4);
    const first = await new TestMember(named('pod-0'), options).start(t);
    const second = await new TestMember(named('pod-1'), options).start(t);
    await first.until(() => first.partitions === 2 && second.partitions === 2);
    const [own] = second.assignments.slice(-1);
    const joins = first.assignments.length;
    await second.member.stop();
    for (const partition of [0, 1, 2, 3]) await broker.produce(topic, partition, range(0, 5));
    await first.until(() => first.committed === 10);
    const back = await new TestMember(named('pod-1'), options).start(t);
    assert.deepEqual(back.assignments, [own]);
    await back.until(() => back.committed === 10);
    assert.equal(first.assignments.length, joins);
  });

  test(`${groupProtocol}: of two members with one name, one crashes, and says why`, async (t) => {
    const broker = await sharedBroker(t);
    const topic = `topic-${randomUUID()}`;
    const options = { groupId: `group-${topic}`, topics: [topic] };
    await broker.createTopic(topic, 1);
    const [former, driver] = [await new TestMember(named('pod-0'), options).start(t), named('pod-0')];
    const newcomer = new TestMember(driver, options);
    const expected =
      /^KAFKA_INSTANCE_ID: expected a name that no other member of the group has, got pod-0, which/;
    if (groupProtocol === 'classic') {
      await newcomer.start(t);
      await former.until(() => former.crash !== undefined);
      assert.match(String(former.crash?.message), expected);
      assert.equal(driver.isRetriable(former.crash), false);
      assert.equal(newcomer.crash, undefined);
    } else {
      // It is free again once the former one has stopped, or its session has ended.
      await assert.rejects(newcomer.start(t), { message: expected });
      assert.equal(driver.isRetriable(newcomer.crash), true);
      assert.equal(former.crash, undefined);
      await former.member.stop();
      await new TestMember(driver, options).start(t);
    }
  });
}
