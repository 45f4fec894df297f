import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { testBus } from './bus.ts';

testBus('memory', {}, async (t, { lingerMs, maxChannels }) => {
  const metrics = new Metrics();
  const bus = new MemoryBus({ lingerMs, maxChannels, metrics, log: createLog('silent') });
  bus.start();
  t.after(() => bus.stop());
  return { bus, metrics };
});
