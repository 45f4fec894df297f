import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { mkdir } from 'node:fs/promises';
import { freePort } from '../helpers/free-port.ts';
import { disconnectAfter } from '../helpers/kafka-client.ts';
import { startFollower, startOwnKafka } from '../helpers/own-kafka.ts';
import { needs } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';
import { range } from './kafka-checks.ts';
import { DRIVERS } from './kafka-drivers.ts';
import { TestMember, TIMING } from './kafka-member.ts';
import { brokerHandle } from './kafkajs-broker.ts';

const topic = 'items';

/** No broker is heard of by the metadata that is asked for now and then, but by connections that end. */
const timing = { ...TIMING, metadataMaxAgeMs: 600_000 };

/** How soon the controller notices that a broker is gone. */
const CONTROLLER = { 'broker.session.timeout.ms': 3_000, 'broker.heartbeat.interval.ms': 500 };

for (const { name, make } of DRIVERS) {
  test(
    `${name}: events are fetched from the replica in the member's rack, and from the leader when that is gone`,
    needs('kafka-jars'),
    async (t) => {
      const folder = await temporaryFolder(t);
      const [own, relay] = [await freePort(), await TcpRelay.start(t)];
      relay.moveTo(own);
      const kafka = await startOwnKafka(t, folder, {
        ...CONTROLLER,
        'broker.rack': 'zone-a',
        'replica.selector.class': 'org.apache.kafka.common.replica.RackAwareReplicaSelector',
      });
      const second = path.join(folder, 'second');
      await mkdir(second);
      const ports = { own, advertised: relay.port };
      const follower = await startFollower(t, second, kafka, ports, {
        ...CONTROLLER,
        'broker.rack': 'zone-b',
      });
      const admin = kafka.client.admin();
      await admin.connect();
      disconnectAfter(t, admin);
      // The first of the replicas leads.
      const replicaAssignment = [{ partition: 0, replicas: [1, 2] }];
      await createTopics(admin, [{ topic, replicaAssignment }]);
      const broker = await brokerHandle(t, kafka.client);
      const driver = make([kafka.brokers], { KAFKA_RACK: 'zone-b' });
      const member = await new TestMember(driver, { groupId: 'group', topics: [topic], timing }).start(t);
      await broker.produce(topic, 0, ['first']);
      await member.until(() => member.records.length === 1);
      const before = relay.carriedBytes;
      const large = range(0, 100).map((value) => value.padEnd(10_000, '.'));
      await broker.produce(topic, 0, large);
      await member.until(() => member.records.length === 101);
      assert.ok(relay.carriedBytes - before >= 100 * 10_000, `${relay.carriedBytes - before} bytes`);

      await follower.kill();
      await broker.produce(topic, 0, range(101, 110));
      await member.until(() => member.records.length === 110);
      assert.deepEqual(member.values(), ['first', ...large, ...range(101, 110)]);
      assert.equal(member.crash, undefined);
      await member.member.stop();
    },
  );
}
