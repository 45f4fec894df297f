import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../helpers/eventually.ts';
import { freePort } from '../helpers/free-port.ts';
import { kafkaAdmin } from '../helpers/kafka-client.ts';
import { startFollower, startOwnKafka } from '../helpers/own-kafka.ts';
import { fileScope, type Scope } from '../helpers/scope.ts';
import { testNeeding } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';
import { range } from './kafka-checks.ts';
import { DRIVERS } from './kafka-drivers.ts';
import { TestMember, TIMING } from './kafka-member.ts';
import { brokerHandle } from './kafkajs-broker.ts';

const test = testNeeding('kafka-jars');

/** No broker is heard of by the metadata that is asked for now and then, but by connections that end. */
const timing = { ...TIMING, metadataMaxAgeMs: 600_000 };

/** How soon the controller notices that a broker is gone. */
const CONTROLLER = { 'broker.session.timeout.ms': 3_000, 'broker.heartbeat.interval.ms': 500 };

const LARGE = range(0, 100).map((value) => value.padEnd(10_000, '.'));
const LARGE_BYTES = 100 * 10_000;

const scope = fileScope();
let starting: ReturnType<typeof startCluster> | undefined;

/** A broker that leads, in zone a, and in zone b a follower that is reached by a relay. */
async function startCluster(of: Scope) {
  const folder = await temporaryFolder(of);
  const own = await freePort();
  const relay = await TcpRelay.start(of, own);
  const kafka = await startOwnKafka(of, folder, {
    ...CONTROLLER,
    'broker.rack': 'zone-a',
    'replica.selector.class': 'org.apache.kafka.common.replica.RackAwareReplicaSelector',
  });
  const second = path.join(folder, 'second');
  await mkdir(second);
  const ports = { own, advertised: relay.port };
  const rack = { ...CONTROLLER, 'broker.rack': 'zone-b' };
  const follower = await startFollower(of, second, kafka, ports, rack);
  return { kafka, relay, follower, admin: await kafkaAdmin(of, kafka.client) };
}

for (const { name, make } of DRIVERS) {
  test(`${name}: events are fetched from the replica in the member's rack, and from the leader when that is gone, or without a rack`, async (t) => {
    const { kafka, relay, follower, admin } = await (starting ??= startCluster(scope));
    const topic = `items-${name.replaceAll(/\W/g, '')}`;
    // The first of the replicas leads.
    const replicaAssignment = [{ partition: 0, replicas: [1, 2] }];
    await createTopics(admin, [{ topic, replicaAssignment }]);
    await eventually(async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      const [partition] = topics[0]?.partitions ?? [];
      assert.deepEqual([partition?.leader, partition?.isr.toSorted()], [1, [1, 2]]);
    });
    const broker = await brokerHandle(t, kafka);
    const join = (groupId: string, rack?: string) =>
      new TestMember(make([kafka.brokers], { KAFKA_RACK: rack }), {
        groupId: `${groupId}-${topic}`,
        topics: [topic],
        timing,
      }).start(t);

    const far = await join('anywhere');
    const atFirst = relay.carriedBytes;
    await broker.produce(topic, 0, LARGE);
    await far.until(() => far.records.length === LARGE.length);
    const byOthers = relay.carriedBytes - atFirst;
    assert.ok(byOthers < LARGE_BYTES, `${byOthers} bytes of the follower`);
    await far.member.stop();

    const near = await join('near', 'zone-b');
    await broker.produce(topic, 0, ['first']);
    await near.until(() => near.records.length === 1);
    const before = relay.carriedBytes;
    await broker.produce(topic, 0, LARGE);
    await near.until(() => near.records.length === 101);
    const carried = relay.carriedBytes - before;
    assert.ok(carried >= LARGE_BYTES, `${carried} bytes of the follower`);

    await follower.kill();
    await broker.produce(topic, 0, range(101, 110));
    await near.until(() => near.records.length === 110);
    assert.deepEqual(near.values(), ['first', ...LARGE, ...range(101, 110)]);
    assert.equal(near.crash, undefined);
    await near.member.stop();
    await follower.restart();
  });
}
