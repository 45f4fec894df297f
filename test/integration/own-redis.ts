import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { range } from '../helpers/numbers.ts';
import { redisAdmin, startRedis, type RedisServer } from '../helpers/redis.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { accountOf, PODS, type Account, type Stream } from './delivery-account.ts';

const KILLS = 4;

interface StreamWithRedis extends Stream {
  readonly t: TestContext;
  readonly redis: RedisServer;
  /** Each pod's network to it. */
  readonly relays: readonly TcpRelay[];
}

export type Happen = (stream: StreamWithRedis) => Promise<void>;

/** Redis closes the connections of these types, those of both pods, again and again. */
export const kill =
  (...types: readonly string[]): Happen =>
  async ({ t, redis, flow }) => {
    const client = await redisAdmin(t, redis);
    for (let times = 0; times < KILLS; times += 1) {
      for (const type of types) {
        await eventually(async () => {
          const closed = Number(await client.call('CLIENT', 'KILL', 'TYPE', type));
          assert.ok(closed >= PODS, `expected ${PODS} connections of type ${type}, got ${closed}`);
        });
      }
      await flow();
    }
  };

/** What became of a stream to pods with a Redis of their own. */
export async function accountWithRedis(
  t: TestContext,
  options: Omit<Parameters<typeof accountOf>[1], 'redis'>,
  happen: Happen,
): Promise<Account> {
  const redis = await startRedis(t);
  const relays = await Promise.all(range(0, PODS).map(() => TcpRelay.start(t, redis.port)));
  const url = (pod: number) => ({ REDIS_URL: `redis://127.0.0.1:${relays[pod]?.port}` });
  return accountOf(t, { ...options, redis: url }, (stream) => happen({ ...stream, t, redis, relays }));
}
