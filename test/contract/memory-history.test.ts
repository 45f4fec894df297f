import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { SIZE, testHistory, testKeepingAll, TOPIC, TTL_MS } from './history.ts';
import { testReplacedHistories } from './keeping.ts';

function startBus(t: TestContext, keepsAll: boolean): Bus {
  const bus = new MemoryBus({
    lingerMs: 0,
    histories: new Map([[TOPIC, { size: SIZE, ttlMs: TTL_MS, keepsAll }]]),
    metrics: new Metrics(),
    log: createLog('silent'),
  });
  bus.start();
  t.after(() => bus.stop());
  return bus;
}

testHistory('memory', {}, async (t) => startBus(t, false));

testKeepingAll('memory', {}, async (t) => startBus(t, true));

testReplacedHistories('memory', {}, async (t) => startBus(t, false));
