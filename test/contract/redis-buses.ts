import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import type { RedisAccess } from '../../src/bus/redis/access.ts';
import { ioredisBus } from '../../src/bus/redis/ioredis-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { redisAdmin, type RedisServer } from '../helpers/redis.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { LONG_MS, SIZE, TOPIC } from './history.ts';

/** The prefix of all channels and keys. */
export const PREFIX = 'history:';

type Settings = Partial<Parameters<typeof ioredisBus>[0]>;

/** A bus that is yet to be started, and hears of a lost connection soon. */
export function createBus(access: RedisAccess, settings: Settings = {}) {
  const metrics = new Metrics();
  const bus = ioredisBus({
    prefix: PREFIX,
    lingerMs: 0,
    countsSubscribers: true,
    timing: { beatMs: 100, silenceMs: 2_000, deafMs: 15_000, settleMs: 200 },
    log: createLog('silent'),
    ...settings,
    access,
    metrics,
  });
  return { bus, metrics };
}

/** Has the bus reach Redis, and stop with the test. */
export async function started(t: TestContext, bus: Bus): Promise<Bus> {
  bus.start();
  t.after(() => bus.stop());
  await eventually(() => assert.equal(bus.notReady(), undefined));
  return bus;
}

export async function startBus(t: TestContext, access: RedisAccess, settings: Settings = {}) {
  const created = createBus(access, settings);
  await started(t, created.bus);
  return created;
}

export function addressOf(text: string) {
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

/** A channel of the topic that is kept. */
export const CHANNEL = 'history:a';

/** A bus that has been reached, and keeps history of `TOPIC`. */
export async function startKeeping(
  t: TestContext,
  port: number,
  { user = '', log = createLog('silent') } = {},
): Promise<Bus> {
  const histories = new Map([[TOPIC, { size: SIZE, ttlMs: LONG_MS, keepsAll: false }]]);
  return (await startBus(t, { url: `redis://${user}127.0.0.1:${port}` }, { histories, log })).bus;
}

interface Listening {
  readonly bus: Bus;
  readonly inbox: Inbox;
  /** The gaps of the topic. */
  readonly gaps: string[];
  readonly relay: TcpRelay;
  /** Until `relay.admit()`. Resolves when Redis has noticed. */
  readonly cutOff: () => Promise<void>;
}

/** A pod that listens to the channel, over a network of its own. */
export async function listen(
  t: TestContext,
  server: RedisServer,
  options: Parameters<typeof startKeeping>[2] = {},
): Promise<Listening> {
  const relay = await TcpRelay.start(t, server.port);
  const bus = await startKeeping(t, relay.port, options);
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
