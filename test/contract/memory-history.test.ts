import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { SIZE, testHistory, TOPIC, TTL_MS } from './history.ts';

testHistory('memory', {}, async (t) => {
  const bus = new MemoryBus({
    lingerMs: 0,
    histories: new Map([[TOPIC, { size: SIZE, ttlMs: TTL_MS }]]),
    metrics: new Metrics(),
    log: createLog('silent'),
  });
  bus.start();
  t.after(() => bus.stop());
  return bus;
});
