import { getHeapSnapshot } from 'node:v8';

/** What lives on the JavaScript heap. */
export interface HeapSize {
  readonly objects: number;
  readonly bytes: number;
}

interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: unknown[] } };
  readonly nodes: readonly number[];
}

/** Made by V8 as code gets warm, and by snapshots themselves: once, not for each object that a program makes. */
const NOT_COUNTED: ReadonlySet<unknown> = new Set(['code', 'object shape', 'synthetic', 'native']);

/** Larger ones are tables of the process, which grow by leaps, or files that it has read: none is a thing's own. */
const LARGEST = 64 * 1024;

/** Counts by heap snapshot, which collects garbage first: the same program gives the same figures each time. */
async function heapSize(): Promise<HeapSize> {
  const { snapshot, nodes } = await takeSnapshot();
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const typeAt = fields.indexOf('type');
  const sizeAt = fields.indexOf('self_size');
  const typeNames = types[typeAt] as readonly string[];
  let objects = 0;
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (NOT_COUNTED.has(typeNames[nodes[at + typeAt] ?? -1])) continue;
    const size = nodes[at + sizeAt] ?? 0;
    if (size > LARGEST) continue;
    objects += 1;
    bytes += size;
  }
  return { objects, bytes };
}

/** What each of `count` things adds to the heap, on average, that `make` leaves behind and somebody holds. */
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

async function takeSnapshot(): Promise<Snapshot> {
  const chunks: string[] = [];
  for await (const chunk of getHeapSnapshot().setEncoding('utf8')) chunks.push(chunk as string);
  return JSON.parse(chunks.join('')) as Snapshot;
}
