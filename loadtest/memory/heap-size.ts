import { getHeapSnapshot } from 'node:v8';
import { HeapSnapshot } from './heap-snapshot.ts';

/** What lives on the JavaScript heap. */
export interface HeapSize {
  readonly objects: number;
  readonly bytes: number;
}

/** Made by V8 as code gets warm, and by snapshots themselves: once, not for each object that a program makes. */
const NOT_COUNTED: ReadonlySet<string> = new Set(['code', 'object shape', 'synthetic', 'native']);

/** Larger objects are tables of the process, which grow by leaps, or files that it has read: no part of one thing. */
const LARGEST = 64 * 1024;

/** Counts by heap snapshot, which collects garbage first: the same program gives the same figures each time. */
async function heapSize(): Promise<HeapSize> {
  const snapshot = await takeSnapshot();
  let objects = 0;
  let bytes = 0;
  for (let node = 0; node < snapshot.count; node += 1) {
    if (NOT_COUNTED.has(snapshot.kind(node))) continue;
    const size = snapshot.bytes(node);
    if (size > LARGEST) continue;
    objects += 1;
    bytes += size;
  }
  return { objects, bytes };
}

/** What each of `count` things adds to the heap, on average, that `make` leaves behind and the caller holds. */
export async function heapOfEach(count: number, make: () => unknown): Promise<HeapSize> {
  // The first snapshot of a process leaves something behind that the others do not.
  await heapSize();
  const before = await heapSize();
  await make();
  const after = await heapSize();
  return {
    objects: (after.objects - before.objects) / count,
    bytes: (after.bytes - before.bytes) / count,
  };
}

async function takeSnapshot(): Promise<HeapSnapshot> {
  const chunks: string[] = [];
  for await (const chunk of getHeapSnapshot().setEncoding('utf8')) chunks.push(chunk as string);
  return new HeapSnapshot(chunks.join(''));
}
