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
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { fileScope, type Scope } from '../helpers/scope.ts';
import { testNeeding } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';
import { accountWithRedis, PARTITIONS, type Account, type Happen } from './delivery-account.ts';

const test = testNeeding('kafka', 'redis-server');
const testOfBrokers = testNeeding('kafka-jars', 'redis-server');

/** How soon the controller notices that a broker is gone. */
const CONTROLLER = { 'broker.session.timeout.ms': 3_000, 'broker.heartbeat.interval.ms': 500 };

/** Each of three brokers has all records, so that two may be lost without a record. */
const SAFE = { 'default.replication.factor': 3, 'min.insync.replicas': 2 };

/** What happens while the events flow, for how many seconds they flow on, and the argument of `@event`. */
interface Fault {
  readonly name: string;
  readonly secondsAfter?: number;
  readonly history?: string;
  readonly happen: Happen;
  readonly expect?: (account: Account) => void;
}

function nothingIsMissed({ delivered, owed, gaps }: Account): void {
  assert.deepEqual([delivered, gaps], [owed, 0]);
}

/** The contract of the bus has others: connections that are half open, and a Redis that is busy. */
const FAULTS: readonly Fault[] = [
  {
    name: 'Redis restarts, and one pod reaches it 3 s after the other',
    secondsAfter: 3,
    async happen({ pods, relays, redis }) {
      await redis.stop('SIGKILL');
      relays[1]?.refuse();
      await redis.start();
      await passes(3_000); // The outage of that pod.
      relays[1]?.admit();
      await pods[1]?.untilAtLeast('sluice_bus_outages_total', 1);
    },
    expect: nothingIsMissed,
  },
  {
    name: 'a replica is promoted, and the old master lives on',
    secondsAfter: 5,
    async happen({ t, relays, redis: old }) {
      const promoted = await startRedis(t);
      const [replica, master] = [await redisAdmin(t, promoted), await redisAdmin(t, old)];
      await replica.replicaof('127.0.0.1', old.port);
      await eventually(async () => assert.match(await replica.info('replication'), /master_link_status:up/));
      await replica.replicaof('NO', 'ONE');
      for (const relay of relays) relay.moveTo(promoted.port);
      relays[1]?.cut();
      await passes(1_500); // For so long each pod has a master of its own.
      await master.replicaof('127.0.0.1', promoted.port);
    },
  },
  {
    name: 'the topic is made anew',
    secondsAfter: 3,
    async happen({ t, topic, hold, release }) {
      const kafka = await kafkaAdmin(t);
      await hold();
      await kafka.deleteTopics({ topics: [topic] });
      await eventually(async () =>
        assert.ok(!(await kafka.listTopics()).includes(topic), 'it is still there'),
      );
      await createTopics(kafka, [{ topic, numPartitions: PARTITIONS }]);
      release();
    },
  },
  {
    name: 'Redis stands still for longer than pods wait for it',
    async happen({ pods: [one, other], redis }) {
      const outages = 'sluice_bus_outages_total';
      const stop = (): void => redis.signal('SIGSTOP');
      await one?.untilGrown(outages, () => other?.untilGrown(outages, stop));
      redis.signal('SIGCONT');
    },
    expect: nothingIsMissed,
  },
  ...['{}', 'null'].map((history): Fault => ({
    name: `the connections of one pod are half open, with history: ${history}`,
    history,
    async happen({ pods, relays }) {
      await pods[1]?.untilGrown('sluice_bus_outages_total', () => relays[1]?.freeze());
    },
    expect: nothingIsMissed,
  })),
];

for (const { name, happen, expect, ...options } of FAULTS) {
  test(`200 subscribers on two pods: while ${name}, nothing is lost untold, doubled or re-ordered`, async (t) => {
    const account = await accountWithRedis(t, options, happen);
    assert.ok(account.delivered > account.owed / 2, 'expected most to be delivered');
    expect?.(account);
  });
}

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
      nothingIsMissed(await accountWithRedis(t, { kafka }, happen));
      await restart();
    },
  );
}
