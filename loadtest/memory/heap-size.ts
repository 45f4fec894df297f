import { getHeapSnapshot } from 'node:v8';
import { HeapSnapshot } from './heap-snapshot.ts';

/** The objects on the JavaScript heap. */
export interface HeapSize {
  readonly objects: number;
  readonly bytes: number;
}

/** Kinds that V8 adds as code gets warm, or for snapshots: once, and not for each object that a program makes. */
const NOT_COUNTED: ReadonlySet<string> = new Set(['code', 'object shape', 'synthetic', 'native']);

/** Larger objects are tables of the process, which grow by leaps, or files in memory: they are left out. */
const LARGEST = 64 * 1024;

/** Counts from a heap snapshot, which collects garbage first: the same program gives the same figures each time. */
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

/** Returns the average growth of the heap for each of `count` things. `make` makes them, and the caller holds them. */
export async function heapOfEach(count: number, make: () => unknown): Promise<HeapSize> {
  // Only the first snapshot of a process leaves objects behind.
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
