import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { readonly type: 'minor' }) => void;

// Not by a flag on the command line: a benchmark would have to be started with it.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

/** Collects what another variant has left behind, so that no variant pays for the garbage of others. */
export function collectYoung(): void {
  collect({ type: 'minor' });
}

/**
 * Bytes that a run allocates on the JavaScript heap; what buffers hold outside of it is freed at any time, so it can't
 * be told. V8 says only what is in use, so what it says around each collection goes into the account:
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
