import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import type { Log } from '../../log.ts';
import { fileHeaders, type Recordings } from './recordings.ts';
import { HttpError } from '../http-error.ts';
import type { Handle } from '../router.ts';

/** Bytes. */
export interface Memory {
  /** What the heap holds. */
  readonly used: number;
  /** What is left of the container's limit, or else of the machine. */
  readonly available: number;
}

export function memoryOfProcess(): Memory {
  return { used: getHeapStatistics().used_heap_size, available: process.availableMemory() };
}

/**
 * What V8 may take beside the heap while it makes a snapshot of it, the text included, which waits in memory until the
 * client has read it. It follows from the number of objects more than from their size: 4 times the heap of a gateway
 * with 4,000 subscribers was measured, and 8.4 to 9.7 times one of 17 to 290 MB in small objects (Node.js 20; 7 on 24).
 * Being killed is worse than being refused, so the most counts.
 */
const MEMORY_PER_HEAP = 10;

/**
 * `/debug/heap-snapshot`: all that the heap holds, for Chrome DevTools. The event loop stands still while V8 takes it.
 *
 * A process that runs into the limit of its container is killed, and its clients with it; so a snapshot for which the
 * memory may be too short is refused.
 */
export function heapSnapshot(recordings: Recordings, memory: () => Memory, log: Log): Handle {
  return (_request, response) =>
    recordings.alone('a heap snapshot', async () => {
      demandMemory(memory());
      const start = performance.now();
      const snapshot = getHeapSnapshot();
      snapshot.read(0); // V8 writes all of the text when the first of it is asked for: that is standing still, too.
      log.warn(
        { ms: Math.round(performance.now() - start) },
        'the event loop stood still for a heap snapshot',
      );
      response.writeHead(200, fileHeaders('heapsnapshot'));
      await pipeline(snapshot, response);
    });
}

function demandMemory({ used, available }: Memory): void {
  const needed = used * MEMORY_PER_HEAP;
  if (available >= needed) return;
  throw new HttpError(
    503,
    `memory is too short for a heap snapshot: expected ${megabytes(needed)} MB to be left ` +
      `(${MEMORY_PER_HEAP} times the ${megabytes(used)} MB that the heap holds), got ${megabytes(available)} MB`,
  );
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
