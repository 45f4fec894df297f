import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { SIZE, testHistory, testKeepingAll, TOPIC } from './history.ts';
import { testReplacedHistories } from './keeping.ts';

/** Nothing is to be renewed in time, so a short one will do. */
const TTL_MS = 200;

function startBus(t: TestContext, ttlMs: number, keepsAll = false): Bus {
  const bus = new MemoryBus({
    lingerMs: 0,
    histories: new Map([[TOPIC, { size: SIZE, ttlMs, keepsAll }]]),
    metrics: new Metrics(),
    log: createLog('silent'),
  });
  bus.start();
  t.after(() => bus.stop());
  return bus;
}

testHistory('memory', {}, async (t, ttlMs) => startBus(t, ttlMs), TTL_MS);

testKeepingAll('memory', {}, async (t, ttlMs) => startBus(t, ttlMs, true), TTL_MS);

testReplacedHistories('memory', {}, async (t, ttlMs) => startBus(t, ttlMs));
