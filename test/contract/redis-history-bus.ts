import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import { ioredisBus } from '../../src/bus/redis/ioredis-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { redisAdmin, type RedisServer } from '../helpers/redis.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { LONG_MS, SIZE, TOPIC } from './history.ts';

export const CHANNEL = 'history:a';
export const PREFIX = 'history:';

/** A bus that has been reached, and keeps history of `TOPIC`. */
export async function startBus(
  t: TestContext,
  port: number,
  { user = '', ttlMs = LONG_MS, hasHistory = true, keepsAll = false, log = createLog('silent') } = {},
): Promise<Bus> {
  const bus = ioredisBus({
    access: { url: `redis://${user}127.0.0.1:${port}` },
    prefix: PREFIX,
    lingerMs: 0,
    countsSubscribers: true,
    ...(hasHistory && { histories: new Map([[TOPIC, { size: SIZE, ttlMs, keepsAll }]]) }),
    timing: { beatMs: 100, silenceMs: 2_000, settleMs: 200 },
    metrics: new Metrics(),
    log,
  });
  bus.start();
  t.after(() => bus.stop());
  await eventually(() => assert.equal(bus.notReady(), undefined));
  return bus;
}

interface Listening {
  readonly bus: Bus;
  readonly inbox: Inbox;
  /** Of the topic. */
  readonly gaps: string[];
  readonly relay: TcpRelay;
  /** Until `relay.admit()`. Resolves when Redis has noticed. */
  readonly cutOff: () => Promise<void>;
}

/** A pod that listens to the channel, over a network of its own. */
export async function listen(
  t: TestContext,
  server: RedisServer,
  { user = '', log = createLog('silent') } = {},
): Promise<Listening> {
  const relay = await TcpRelay.start(t, server.port);
  const bus = await startBus(t, relay.port, { user, log });
  const gaps: string[] = [];
  bus.onGap((topic) => gaps.push(topic));
  const inbox = new Inbox();
  await bus.subscribe(TOPIC, CHANNEL, inbox.take).ready;
  const admin = await redisAdmin(t, server);
  const cutOff = async (): Promise<void> => {
    relay.refuse();
    await eventually(async () => {
      const [, count] = (await admin.call('PUBSUB', 'NUMSUB', CHANNEL)) as [string, number];
      assert.equal(count, 0);
    });
  };
  return { bus, inbox, gaps, relay, cutOff };
}
