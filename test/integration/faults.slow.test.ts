import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { eventually } from '../helpers/eventually.ts';
import { freePort } from '../helpers/free-port.ts';
import { beginAt } from '../helpers/group-offsets.ts';
import { kafkaAdmin } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { startFollower, startOwnKafka } from '../helpers/own-kafka.ts';
import { fileScope, type Scope } from '../helpers/scope.ts';
import { testNeeding } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accountWithRedis, PARTITIONS, type Happen } from './delivery-account.ts';

const test = testNeeding('kafka', 'redis-server');
const testOfBrokers = testNeeding('kafka-jars', 'redis-server');

/** How soon the controller notices that a broker is gone. */
const CONTROLLER = { 'broker.session.timeout.ms': 3_000, 'broker.heartbeat.interval.ms': 500 };

/** Of three brokers that each have all records, two may be lost without a record. */
const SAFE = { 'default.replication.factor': 3, 'min.insync.replicas': 2 };

/**
 * Other faults of Redis, one by one, are in the contract of its bus, and all together in the simulation. This one meets the
 * whole gateway: what pods missed, and what they published meanwhile.
 */
test('200 subscribers on two pods: while Redis restarts, and one pod reaches it 3 s after the other, nothing is lost untold, doubled or re-ordered', async (t) => {
  const { delivered, owed } = await accountWithRedis(
    t,
    { secondsAfter: 3 },
    async ({ pods, relays, redis }) => {
      await redis.stop('SIGKILL');
      relays[1]?.refuse();
      await redis.start();
      await passes(3_000); // The outage of that pod.
      relays[1]?.admit();
      await pods[1]?.untilAtLeast('sluice_bus_outages_total', 1);
    },
  );
  assert.ok(delivered > owed / 2, 'expected most to be delivered');
});

const scope = fileScope();
let starting: ReturnType<typeof startBrokers> | undefined;

/** Three brokers, of which the first is the controller and has the positions of groups, and the others may be killed. */
async function startBrokers(of: Scope) {
  const folder = await temporaryFolder(of);
  const first = await startOwnKafka(of, folder, { ...CONTROLLER, ...SAFE });
  const others = await Promise.all(
    [2, 3].map(async (id) => {
      const own = await freePort();
      const ofItsOwn = path.join(folder, String(id));
      await mkdir(ofItsOwn);
      const settings = { ...CONTROLLER, 'node.id': id };
      return { id, ...(await startFollower(of, ofItsOwn, first, { own, advertised: own }, settings)) };
    }),
  );
  const brokers = [first, ...others].map((broker) => broker.brokers);
  const client = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  return { others, brokers: brokers.join(','), client, admin: await kafkaAdmin(of, client) };
}

/** Which of them is killed. */
const KILLED = { kafkajs: 0, platformatic: 1 };

for (const [driver, killed] of Object.entries(KILLED)) {
  testOfBrokers(
    `${driver}: 200 subscribers on two pods get each event once and in order while a broker that leads partitions is killed, and all is published again`,
    async (t) => {
      const { others, brokers, client, admin } = await (starting ??= startBrokers(scope));
      const { id, kill: killBroker, restart } = others[killed] ?? assert.fail();
      const happen: Happen = async ({ topic, pods, start, flow }) => {
        const partitions = async () => {
          const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
          return topics[0]?.partitions ?? [];
        };
        await eventually(async () => {
          for (const { isr } of await partitions()) assert.equal(isr.length, 3);
        });
        const ofIt = (await partitions()).filter(({ leader }) => leader === id);
        assert.notDeepEqual(ofIt, [], `expected broker ${id} to lead partitions`);
        await killBroker();
        await eventually(async () => {
          for (const { leader } of await partitions()) assert.notEqual(leader, id);
        });
        await flow();
        const metrics = (name: string) => Promise.all(pods.map((pod) => pod.metric(name)));
        const [one = NaN, other = NaN] = await metrics('sluice_publishes_total');
        // Another group has published nothing yet: it publishes what has been, in the epochs of leaders before.
        const KAFKA_GROUP_ID = `${topic}-again`;
        await beginAt(brokers, KAFKA_GROUP_ID, topic, { ...range(0, PARTITIONS).fill(0) });
        await start({ KAFKA_GROUP_ID });
        for (const pod of pods) await pod.untilAtLeast('sluice_duplicates_total', one + other);
        assert.deepEqual(await metrics('sluice_position_resets_total'), [0, 0]);
      };
      const kafka = { client, settings: { KAFKA_BROKERS: brokers, KAFKA_DRIVER: driver } };
      const { delivered, owed, gaps } = await accountWithRedis(t, { kafka }, happen);
      assert.deepEqual([delivered, gaps], [owed, 0]);
      await restart();
    },
  );
}
