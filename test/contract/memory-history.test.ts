import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { testHistories } from './keeping.ts';

/** Nothing is to be renewed in time, so a short one will do. */
const TTL_MS = 200;

testHistories(
  'memory',
  {},
  async (t, histories) => {
    const bus = new MemoryBus({ lingerMs: 0, histories, metrics: new Metrics(), log: createLog('silent') });
    bus.start();
    t.after(() => bus.stop());
    return bus;
  },
  TTL_MS,
);
