import assert from 'node:assert/strict';

/** The parts of a heap snapshot's text that tests use. The nodes are one array, `node_fields` numbers each. */
interface HeapSnapshotFile {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
      readonly edge_fields: readonly string[];
    };
    readonly node_count: number;
    readonly edge_count: number;
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

/**
 * Reads a heap snapshot like Chrome DevTools.
 *
 * @returns the number of objects by the name of their class
 */
export function objectsIn(heapSnapshot: string): ReadonlyMap<string, number> {
  const { snapshot, nodes, edges, strings } = JSON.parse(heapSnapshot) as HeapSnapshotFile;
  const { node_fields: fields, node_types: types, edge_fields: edgeFields } = snapshot.meta;
  assert.ok(snapshot.node_count > 0);
  assert.equal(nodes.length, snapshot.node_count * fields.length);
  assert.equal(edges.length, snapshot.edge_count * edgeFields.length);
  const counts = new Map<string, number>();
  for (let node = 0; node < nodes.length; node += fields.length) {
    const type = types[0][nodes[node + fields.indexOf('type')] ?? -1];
    const name = strings[nodes[node + fields.indexOf('name')] ?? -1];
    assert.ok(type !== undefined && name !== undefined);
    if (type === 'object') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

interface CpuProfileFile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string };
    readonly children?: readonly number[];
  }[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Reads a CPU profile like Chrome DevTools. @returns its functions, and microseconds */
export function readCpuProfile(text: string) {
  const { nodes, startTime, endTime, samples, timeDeltas } = JSON.parse(text) as CpuProfileFile;
  const ids = new Set(nodes.map(({ id }) => id));
  assert.ok(nodes[0]?.callFrame.functionName === '(root)');
  assert.ok(samples.length > 0);
  assert.equal(samples.length, timeDeltas.length);
  assert.ok(samples.every((id) => ids.has(id)));
  assert.ok(nodes.every(({ children = [] }) => children.every((id) => ids.has(id))));
  return {
    functions: new Set(nodes.map(({ callFrame }) => callFrame.functionName)),
    duration: endTime - startTime,
  };
}

interface AllocationNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string };
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

interface AllocationProfileFile {
  readonly head: AllocationNode;
  readonly samples: readonly { readonly size: number; readonly nodeId: number }[];
}

/**
 * Reads an allocation profile like Chrome DevTools.
 *
 * @returns bytes by the name of the function that allocated them
 */
export function readAllocationProfile(text: string): ReadonlyMap<string, number> {
  const { head, samples } = JSON.parse(text) as AllocationProfileFile;
  const ids = new Set<number>();
  const bytes = new Map<string, number>();
  const visit = ({ id, callFrame: { functionName }, selfSize, children }: AllocationNode): void => {
    ids.add(id);
    bytes.set(functionName, (bytes.get(functionName) ?? 0) + selfSize);
    children.forEach(visit);
  };
  visit(head);
  assert.equal(head.callFrame.functionName, '(root)');
  assert.ok(samples.length > 0);
  assert.ok(samples.every(({ size }) => size > 0));
  // V8 keeps sampling while it writes the tree, so a few samples may be of functions that are missing in it.
  const known = samples.filter(({ nodeId }) => ids.has(nodeId));
  assert.ok(known.length > samples.length * 0.9, `${known.length} of ${samples.length} are in the tree`);
  return bytes;
}
