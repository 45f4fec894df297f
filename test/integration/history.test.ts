import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { startStream, type Stream } from '../helpers/delivery-account.ts';
import { eventually } from '../helpers/eventually.ts';
import { redisAdmin, startRedis, type RedisServer } from '../helpers/redis.ts';
import { needs } from '../helpers/services.ts';

const PODS = 2;
const KILLS = 6;

/** Redis closes the connections of these types, those of both pods, again and again. */
async function kill(t: TestContext, redis: RedisServer, ...types: readonly string[]): Promise<void> {
  const client = await redisAdmin(t, redis);
  for (let times = 0; times < KILLS; times += 1) {
    for (const type of types) {
      await eventually(async () => {
        const closed = Number(await client.call('CLIENT', 'KILL', 'TYPE', type));
        assert.ok(closed >= PODS, `expected ${PODS} connections of type ${type}, got ${closed}`);
      });
    }
    await passes(700); // Between two faults.
  }
}

interface Fault {
  readonly name: string;
  readonly happen: (t: TestContext, stream: Stream, redis: RedisServer) => Promise<void>;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'Redis closes the connections that listen',
    happen: (t, _stream, redis) => kill(t, redis, 'pubsub'),
  },
  {
    name: 'Redis closes the connections that publish',
    happen: (t, _stream, redis) => kill(t, redis, 'normal'),
  },
  {
    name: 'Redis closes all connections',
    happen: (t, _stream, redis) => kill(t, redis, 'pubsub', 'normal'),
  },
  {
    name: 'one pod is cut off from Redis',
    async happen(_t, { relays, pods }) {
      relays[1]?.refuse();
      await pods[1]?.untilMetric('sluice_bus_outages_total', 1);
      await passes(3_000); // The outage of that pod.
      relays[1]?.admit();
    },
  },
  {
    name: 'the connections of one pod are half open',
    async happen(_t, { relays, pods }) {
      relays[1]?.freeze();
      await pods[1]?.untilMetric('sluice_bus_outages_total', 1);
    },
  },
];

for (const { name, happen } of FAULTS) {
  test(
    `200 subscribers of a topic with history, on two pods: while ${name}, each gets every event once, in order, and no gap`,
    needs('kafka', 'redis-server'),
    async (t) => {
      const redis = await startRedis(t);
      const stream = await startStream(t, redis, { history: '{}' });
      await passes(1_000); // Of the stream before.
      await happen(t, stream, redis);
      const account = await stream.finish(2);
      t.diagnostic(JSON.stringify(account));
      const { owed, delivered, doubled, reordered, gaps } = account;
      assert.deepEqual(
        { delivered, doubled, reordered, gaps },
        { delivered: owed, doubled: 0, reordered: 0, gaps: 0 },
      );
    },
  );
}

test(
  '200 subscribers of a topic without history, on two pods: while Redis closes the connections that listen, gaps are told',
  needs('kafka', 'redis-server'),
  async (t) => {
    const redis = await startRedis(t);
    const stream = await startStream(t, redis);
    await passes(1_000); // Of the stream before.
    await kill(t, redis, 'pubsub');
    const account = await stream.finish(2);
    t.diagnostic(JSON.stringify(account));
    assert.ok(account.gaps > 0, 'expected gaps, got none');
    assert.equal(account.lostAndNotTold, 0);
  },
);

test(
  'a pod that was cut off from Redis for more events than are kept tells its subscribers of a gap, and goes on',
  needs('kafka', 'redis-server'),
  async (t) => {
    const redis = await startRedis(t);
    const stream = await startStream(t, redis, { history: '{ size: 5 }' });
    await passes(1_000); // Of the stream before.
    const [one, other] = stream.pods;
    stream.relays[1]?.refuse();
    await other?.untilMetric('sluice_bus_outages_total', 1);
    const published = async (): Promise<number> => (await one?.metric('sluice_publishes_total')) ?? 0;
    const missed = (await published()) + 100;
    await eventually(async () => assert.ok((await published()) > missed));
    stream.relays[1]?.admit();
    const account = await stream.finish(2);
    t.diagnostic(JSON.stringify(account));
    assert.deepEqual(
      { lostAndNotTold: account.lostAndNotTold, doubled: account.doubled, reordered: account.reordered },
      { lostAndNotTold: 0, doubled: 0, reordered: 0 },
    );
    assert.equal(account.gaps, 100);
    assert.ok(account.told > 0);
  },
);
