import assert from 'node:assert/strict';
import { setTimeout as passes } from 'node:timers/promises';
import { eventually } from '../helpers/eventually.ts';
import { kafkaAdmin } from '../helpers/kafka-client.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { testNeeding } from '../helpers/services.ts';
import { createTopics } from '../helpers/topic.ts';
import { accountWithRedis, kill, PARTITIONS, type Account, type Happen } from './delivery-account.ts';

const test = testNeeding('kafka', 'redis-server');

/** What happens while the events flow, for how many seconds they flow on, and the argument of `@event`. */
interface Fault {
  readonly name: string;
  readonly secondsAfter?: number;
  readonly history?: string;
  readonly happen: Happen;
  readonly expect?: (account: Account) => void;
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
    name: 'Redis closes the connections that listen, and there is no history',
    happen: kill('pubsub'),
    expect: ({ gaps }) => assert.notEqual(gaps, 0),
  },
  {
    name: 'the connections of one pod are half open, and there is history',
    history: '{}',
    async happen({ pods, relays }) {
      relays[1]?.freeze();
      await pods[1]?.untilMetric('sluice_bus_outages_total', 1);
    },
    expect: ({ delivered, owed, gaps }) => assert.deepEqual([delivered, gaps], [owed, 0]),
  },
];

for (const { name, happen, expect, ...options } of FAULTS) {
  test(`200 subscribers on two pods: while ${name}, nothing is lost untold, doubled or re-ordered`, async (t) => {
    const account = await accountWithRedis(t, options, happen);
    assert.ok(account.delivered > account.owed / 2, 'expected most to be delivered');
    expect?.(account);
  });
}
