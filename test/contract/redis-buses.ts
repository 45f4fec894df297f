import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import type { RedisAccess } from '../../src/bus/redis/access.ts';
import { ioredisBus } from '../../src/bus/redis/ioredis-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';

/** Of all channels and keys. */
export const PREFIX = 'history:';

type Settings = Partial<Parameters<typeof ioredisBus>[0]>;

/** A bus that is yet to be started, and hears of a lost connection soon. */
export function createBus(access: RedisAccess, settings: Settings = {}) {
  const metrics = new Metrics();
  const bus = ioredisBus({
    prefix: PREFIX,
    lingerMs: 0,
    countsSubscribers: true,
    timing: { beatMs: 100, silenceMs: 2_000, settleMs: 200 },
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
