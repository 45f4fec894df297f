import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { kafkaBrokers, testNeeding } from '../helpers/services.ts';
import { range } from './kafka-checks.ts';
import { DRIVERS, platformatic, type DriverMaker } from './kafka-drivers.ts';
import { TestMember, TIMING } from './kafka-member.ts';
import { sharedBroker } from './kafkajs-broker.ts';

const test = testNeeding('kafka');

const PARTITIONS = [0, 1, 2, 3];

const driverOf = ({ make }: DriverMaker) => make(kafkaBrokers().split(','));

/** A topic, and options of members of one group that consume it. */
async function setUp(t: TestContext) {
  const broker = await sharedBroker(t);
  const topic = `topic-${randomUUID()}`;
  await broker.createTopic(topic, PARTITIONS.length);
  const produce = async (from: number, to: number) => {
    for (const partition of PARTITIONS) await broker.produce(topic, partition, range(from, to));
  };
  return { options: { groupId: `group-${topic}`, topics: [topic] }, produce };
}

const [kafkajs, ...others] = DRIVERS as [DriverMaker, ...DriverMaker[]];

for (const order of others.flatMap((other) => [
  [kafkajs, other],
  [other, kafkajs],
])) {
  const names = order.map(({ name }) => name).join(', then ');
  test(`members with other drivers share a group, and take each other’s partitions over: ${names}`, async (t) => {
    const { options, produce } = await setUp(t);
    const members: TestMember[] = [];
    for (const maker of order) members.push(await new TestMember(driverOf(maker), options).start(t));
    const [first, second] = members as [TestMember, TestMember];
    await first.until(() => first.partitions === 2 && second.partitions === 2);
    await produce(0, 5);
    await first.until(() => first.committed + second.committed === 20);
    await first.member.stop();
    await second.until(() => second.partitions === 4);
    await produce(5, 10);
    await second.until(() => second.committed + first.committed === 40);
    // Positions of the one are positions of the other: nothing comes twice.
    for (const partition of PARTITIONS) {
      assert.deepEqual([...first.values(partition), ...second.values(partition)], range(0, 10));
    }
  });
}

for (const groupProtocol of ['classic', 'consumer'] as const) {
  const named = (instanceId: string) => driverOf(platformatic(groupProtocol, instanceId));

  test(`${groupProtocol}: a member that is back under its name has its partitions at once, and no other member joins anew`, async (t) => {
    const { options: shared, produce } = await setUp(t);
    // Its partitions wait for the member that is stopped for longer than a slow test takes to start it again.
    const options = { ...shared, timing: { ...TIMING, sessionTimeoutMs: 30_000 } };
    const first = await new TestMember(named('pod-0'), options).start(t);
    const second = await new TestMember(named('pod-1'), options).start(t);
    await first.until(() => first.partitions === 2 && second.partitions === 2);
    const [own] = second.assignments.slice(-1);
    const joins = first.assignments.length;
    await second.member.stop();
    await produce(0, 5);
    await first.until(() => first.committed === 10);
    const back = await new TestMember(named('pod-1'), options).start(t);
    assert.deepEqual(back.assignments, [own]);
    await back.until(() => back.committed === 10);
    assert.equal(first.assignments.length, joins);
  });

  test(`${groupProtocol}: of two members with one name, one crashes, and says why`, async (t) => {
    const { options } = await setUp(t);
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
