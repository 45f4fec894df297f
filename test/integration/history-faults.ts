import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { startStream, type Account, type Stream } from '../helpers/delivery-account.ts';
import { eventually } from '../helpers/eventually.ts';
import { redisAdmin, startRedis, type RedisServer } from '../helpers/redis.ts';
import { needs } from '../helpers/services.ts';

const PODS = 2;
const KILLS = 4;

/** Before a fault, and between two. */
const EVENTS_BETWEEN = 60;

type Happen = (t: TestContext, stream: Stream, redis: RedisServer) => Promise<void>;

/** Resolves when the first pod has published so many more events. */
export async function flow({ pods: [pod] }: Stream, events = EVENTS_BETWEEN): Promise<void> {
  const published = (await pod?.metric('sluice_publishes_total')) ?? 0;
  await pod?.untilAtLeast('sluice_publishes_total', published + events);
}

/** Redis closes the connections of these types, those of both pods, again and again. */
export const kill =
  (...types: readonly string[]): Happen =>
  async (t, stream, redis) => {
    const client = await redisAdmin(t, redis);
    for (let times = 0; times < KILLS; times += 1) {
      for (const type of types) {
        await eventually(async () => {
          const closed = Number(await client.call('CLIENT', 'KILL', 'TYPE', type));
          assert.ok(closed >= PODS, `expected ${PODS} connections of type ${type}, got ${closed}`);
        });
      }
      await flow(stream);
    }
  };

/** What became of a stream of events in which something happens, to two pods with a Redis of their own. */
export async function accountOf(t: TestContext, history: string, happen: Happen): Promise<Account> {
  const redis = await startRedis(t);
  const stream = await startStream(t, redis, { history });
  await flow(stream);
  await happen(t, stream, redis);
  const account = await stream.finish(1);
  t.diagnostic(JSON.stringify(account));
  return account;
}

export function testHistoryOutlasts(fault: string, happen: Happen): void {
  test(
    `200 subscribers of a topic with history, on two pods: while ${fault}, each gets every event once, in order, and no gap`,
    needs('kafka', 'redis-server'),
    async (t) => {
      const { owed, delivered, doubled, reordered, gaps } = await accountOf(t, '{}', happen);
      assert.deepEqual(
        { delivered, doubled, reordered, gaps },
        { delivered: owed, doubled: 0, reordered: 0, gaps: 0 },
      );
    },
  );
}
