import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { readonly type: 'minor' }) => void;

// A flag on the command line would be one more thing to know for whoever runs a benchmark.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

/** Takes away what another variant has left behind, so that nobody pays for the garbage of others. */
export function collectYoung(): void {
  collect({ type: 'minor' });
}

/**
 * Bytes that a run allocates on the JavaScript heap; what buffers hold outside of it is freed at any time, so nobody can
 * tell. V8 says only what is in use, so what it says around each collection goes into the account:
 *
 *     start ──allocated──► before │ after ──allocated──► before │ after ──allocated──► end
 */
export async function allocatedBy(run: () => unknown): Promise<number> {
  collect();
  const profiler = new GCProfiler();
  profiler.start();
  const start = getHeapStatistics().used_heap_size;
  await run();
  let allocated = getHeapStatistics().used_heap_size - start;
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    allocated += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  }
  return Math.max(0, allocated);
}
