import type { TestContext } from 'node:test';
import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { testBus } from './bus.ts';
import { testHistories } from './keeping.ts';

type Options = ConstructorParameters<typeof MemoryBus>[0];

function start(t: TestContext, options: Omit<Options, 'metrics' | 'log'>) {
  const metrics = new Metrics();
  const bus = new MemoryBus({ ...options, metrics, log: createLog('silent') });
  bus.start();
  t.after(() => bus.stop());
  return { bus, metrics };
}

testBus('memory', {}, async (t, options) => start(t, options));

/** Nothing is to be renewed in time, so a short one will do. */
const TTL_MS = 200;

testHistories('memory', {}, async (t, histories) => start(t, { lingerMs: 0, histories }).bus, TTL_MS);
