import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import type { Log } from '../../log.ts';
import { fileHeaders, type Recordings } from './recordings.ts';
import { HttpError } from '../http-error.ts';
import type { Handle } from '../router.ts';

/** Bytes. */
export interface Memory {
  /** Used heap. */
  readonly used: number;
  /** Memory left within the container's limit; without a limit, memory left on the machine. */
  readonly available: number;
}

export function memoryOfProcess(): Memory {
  return { used: getHeapStatistics().used_heap_size, available: process.availableMemory() };
}

/**
 * Memory that V8 may need for a snapshot, as a multiple of the used heap. It includes the snapshot's text, which stays
 * in memory until the client has read it. The number of objects matters more than their size: 4 times the heap of a
 * gateway with 4,000 subscribers was measured, and 8.4 to 9.7 times a heap of 17 to 290 MB in small objects (Node.js
 * 20; 7 on 24). The highest value is used, since a refused request does less harm than a killed process.
 */
const MEMORY_PER_HEAP = 10;

/**
 * `/debug/heap-snapshot`: a heap snapshot for Chrome DevTools. V8 blocks the event loop while it takes it.
 *
 * A process that exceeds its container's memory limit is killed, and its clients are disconnected. So a request is
 * refused if the memory may not suffice.
 */
export function heapSnapshot(recordings: Recordings, memory: () => Memory, log: Log): Handle {
  return (_request, response) =>
    recordings.alone('a heap snapshot', async () => {
      demandMemory(memory());
      const start = performance.now();
      const snapshot = getHeapSnapshot();
      snapshot.read(0); // V8 writes the whole text at the first read, which blocks the event loop, too.
      log.warn(
        { ms: Math.round(performance.now() - start) },
        'the event loop was blocked while a heap snapshot was taken',
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
    `not enough memory for a heap snapshot: expected ${megabytes(needed)} MB to be available ` +
      `(${MEMORY_PER_HEAP} times the used heap of ${megabytes(used)} MB), got ${megabytes(available)} MB`,
  );
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
