import assert from 'node:assert/strict';
import { setTimeout as passes } from 'node:timers/promises';
import type { RedisServer } from '../helpers/redis.ts';
import { startSentinels, type SentinelTrio } from '../helpers/redis-sentinel.ts';
import { testNeeding } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { streamThroughFault } from './redis-fault-stream.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

/** More than all events of the test. */
const HISTORY = '{ size: 5000, ttl_seconds: 600 }';

/** The contract of the bus has each fault with both kinds of topics. */
const FAULTS = [
  {
    fault: 'killed',
    what: 'without',
    history: 'null',
    happen: (master: RedisServer): unknown => master.stop('SIGKILL'),
  },
  {
    fault: 'frozen',
    what: 'with',
    history: HISTORY,
    happen: (master: RedisServer): unknown => master.signal('SIGSTOP'),
  },
];

const settingsOf = (trio: SentinelTrio, sentinels: readonly string[] = trio.sentinels) => ({
  REDIS_SENTINELS: sentinels.join(','),
  REDIS_SENTINEL_MASTER: trio.name,
});

for (const { fault, what, history, happen } of FAULTS) {
  test(`two pods and a topic ${what} history behind Sentinel, whose master is ${fault} in mid-stream: what is sent afterwards comes late, and what is missing is told and counted`, async (t) => {
    const trio = await startSentinels(t);
    const stream = await streamThroughFault(t, {
      redis: () => settingsOf(trio),
      history,
      async happen() {
        const former = await trio.master();
        await happen(former);
        await trio.replaced(former);
      },
    });
    t.diagnostic(`${stream.missing} deliveries missing, ${stream.gaps} gaps told`);
    assert.equal(stream.missingOfLater, 0);
  });
}

/** For so long a pod goes on with a former master, and hears nothing of Sentinel. */
const APART_MS = 1_500;

test('a pod that holds on to a former master, which comes back as it was, is found and moves, and what is missing is told and counted', async (t) => {
  const trio = await startSentinels(t);
  const ports = trio.sentinels.map((address) => Number(address.split(':')[1]));
  const relays = await Promise.all(ports.map((port) => TcpRelay.start(t, port)));
  const apart = relays.map(({ port }) => `127.0.0.1:${port}`);
  const stream = await streamThroughFault(t, {
    redis: (pod) => settingsOf(trio, pod === 0 ? trio.sentinels : apart),
    async happen() {
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
    },
  });
  t.diagnostic(`${stream.missing} deliveries missing, ${stream.gaps} gaps told`);
  await stream.pods[1]?.untilLog(/Sentinel has named another master|Redis is not a master/);
});
