import assert from 'node:assert/strict';
import { setTimeout as passes } from 'node:timers/promises';
import type { RedisServer } from '../helpers/redis.ts';
import { startSentinels, type SentinelTrio } from '../helpers/redis-sentinel.ts';
import { testNeeding } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { accountOf, HISTORY, SEVERAL_KEYS } from './delivery-account.ts';

const test = testNeeding('kafka', 'redis-server');

const settingsOf = (trio: SentinelTrio, sentinels: readonly string[] = trio.sentinels) => ({
  REDIS_SENTINELS: sentinels.join(','),
  REDIS_SENTINEL_MASTER: trio.name,
});

/** The contract of the bus has each fault with both kinds of topics. */
for (const [fault, what, history, happen] of [
  ['killed', 'without', 'null', (master: RedisServer): unknown => master.stop('SIGKILL')],
  ['frozen', 'with', HISTORY, (master: RedisServer): unknown => master.signal('SIGSTOP')],
] as const) {
  test(`two pods and a topic ${what} history behind Sentinel, whose master is ${fault} in mid-stream: what is sent afterwards comes late, and what is missing is told and counted`, async (t) => {
    const trio = await startSentinels(t);
    const options = { ...SEVERAL_KEYS, history, redis: () => settingsOf(trio) };
    let began = Infinity;
    const { toldOf } = await accountOf(t, options, async () => {
      const former = await trio.master();
      began = Date.now();
      await happen(former);
      await trio.replaced(former);
    });
    assert.deepEqual(
      toldOf.filter((at) => at > began),
      [],
    );
  });
}

/** For so long a pod goes on with a former master, and hears nothing of Sentinel. */
const APART_MS = 1_500;

test('a pod that holds on to a former master, which comes back as it was, is found and moves, and what is missing is told and counted', async (t) => {
  const trio = await startSentinels(t);
  const ports = trio.sentinels.map((address) => Number(address.split(':')[1]));
  const relays = await Promise.all(ports.map((port) => TcpRelay.start(t, port)));
  const apart = relays.map(({ port }) => `127.0.0.1:${port}`);
  const redis = (pod: number) => settingsOf(trio, pod === 0 ? trio.sentinels : apart);
  await accountOf(t, { ...SEVERAL_KEYS, redis }, async ({ pods }) => {
    for (const relay of relays) {
      relay.stall();
      relay.freeze();
    }
    const former = await trio.master();
    former.signal('SIGSTOP');
    await trio.replaced(former);
    former.signal('SIGCONT');
    await passes(APART_MS); // What they publish apart from each other is to be missing.
    for (const relay of relays) {
      relay.flow();
      relay.cut();
    }
    await pods[1]?.untilLog(/Sentinel has named another master|Redis is not a master/);
  });
});
