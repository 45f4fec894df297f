import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { readonly type: 'minor' }) => void;

// Set here, since a flag on the command line would have to be given for each benchmark.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

/** Collects young garbage of the variant before, so that no variant pays for the garbage of another. */
export function collectYoung(): void {
  collect({ type: 'minor' });
}

/**
 * Returns the bytes that a run allocates on the JavaScript heap, without memory that buffers hold outside of it, since
 * that is freed at any time. V8 tells only the bytes in use, so the sum takes its figures around each collection:
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
