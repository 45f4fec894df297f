import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { startStream, type Account, type Stream } from '../helpers/delivery-account.ts';
import { eventually } from '../helpers/eventually.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { redisAdmin, startRedis, type RedisServer } from '../helpers/redis.ts';
import { testNeeding } from '../helpers/services.ts';
import { createTopics } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis-server');

/** What happens while the events flow, and for how many seconds they flow on. */
interface Fault {
  readonly name: string;
  readonly secondsAfter: number;
  readonly happen: (t: TestContext, stream: Stream, redis: RedisServer) => Promise<void>;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'Redis restarts, and one pod reaches it 3 s after the other',
    secondsAfter: 3,
    async happen(_t, { relays, pods }, redis) {
      await redis.stop('SIGKILL');
      relays[1]?.refuse();
      await redis.start();
      await passes(3_000); // The outage of that pod.
      relays[1]?.admit();
      await pods[1]?.untilAtLeast('sluice_bus_outages_total', 1);
    },
  },
  {
    name: 'Redis closes the connections that listen, eight times',
    secondsAfter: 2,
    async happen(t, _stream, redis) {
      const client = await redisAdmin(t, redis);
      for (let kill = 0; kill < 8; kill += 1) {
        await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await passes(700); // Between two faults.
      }
    },
  },
  {
    name: 'the connections of one pod are half open',
    secondsAfter: 3,
    async happen(_t, { relays, pods }) {
      relays[1]?.freeze();
      await pods[1]?.untilAtLeast('sluice_bus_outages_total', 1);
    },
  },
  {
    name: 'Redis is busy again and again',
    secondsAfter: 2,
    async happen(t, _stream, redis) {
      const client = await redisAdmin(t, redis);
      await client.config('SET', 'busy-reply-threshold', '5');
      const loop = `local function now() local t = redis.call('TIME'); return t[1] * 1000 + t[2] / 1000 end
        local start = now()
        while now() - start < 100 do end`;
      for (let times = 0; times < 20; times += 1) {
        await client.eval(loop, 0);
        await passes(20); // For Redis to take some of what waits.
      }
    },
  },
  {
    name: 'a replica is promoted, and the old master lives on',
    secondsAfter: 5,
    async happen(t, { relays }, old) {
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
    async happen(_t, { topic, hold, release }) {
      const kafka = kafkaClient().admin();
      await kafka.connect();
      await hold();
      await kafka.deleteTopics({ topics: [topic] });
      await eventually(async () =>
        assert.ok(!(await kafka.listTopics()).includes(topic), 'it is still there'),
      );
      await createTopics(kafka, [{ topic, numPartitions: 4 }]);
      await kafka.disconnect();
      release();
    },
  },
];

for (const { name, secondsAfter, happen } of FAULTS) {
  test(`200 subscribers on two pods: while ${name}, nothing is lost untold, doubled or re-ordered`, async (t) => {
    const redis = await startRedis(t);
    const stream = await startStream(t, redis);
    await passes(1_000); // Of the stream before.
    await happen(t, stream, redis);
    const account = await stream.finish(secondsAfter);
    t.diagnostic(JSON.stringify(account));
    assert.deepEqual(faultsOf(account), { lostAndNotTold: 0, doubled: 0, reordered: 0 });
    assert.ok(
      account.delivered > account.owed / 2,
      `expected most to be delivered, got ${JSON.stringify(account)}`,
    );
  });
}

const faultsOf = ({ lostAndNotTold, doubled, reordered }: Account) => ({
  lostAndNotTold,
  doubled,
  reordered,
});
