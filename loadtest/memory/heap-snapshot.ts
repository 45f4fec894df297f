/** The format that V8 writes: flat lists of numbers, described by `meta`. */
interface SnapshotFile {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly (readonly string[])[];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly (readonly string[])[];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

/** The objects of a heap snapshot, by their index from 0. */
export class HeapSnapshot {
  readonly count: number;
  readonly #file: SnapshotFile;
  readonly #width: number;
  readonly #type: number;
  readonly #name: number;
  readonly #size: number;
  readonly #types: readonly string[];

  /** @param json the whole of a `.heapsnapshot` file */
  constructor(json: string) {
    this.#file = JSON.parse(json) as SnapshotFile;
    const { node_fields: fields, node_types: types } = this.#file.snapshot.meta;
    this.#width = fields.length;
    this.#type = fields.indexOf('type');
    this.#name = fields.indexOf('name');
    this.#size = fields.indexOf('self_size');
    this.#types = types[this.#type] ?? [];
    this.count = this.#file.nodes.length / this.#width;
  }

  /** V8's kind of object: `object`, `closure`, `string` and others. */
  kind(node: number): string {
    return this.#types[this.#field(node, this.#type)] ?? '';
  }

  /** The constructor's name, or V8's own name for the object. */
  name(node: number): string {
    return this.#file.strings[this.#field(node, this.#name)] ?? '';
  }

  /** The size of the object itself, without the objects that it refers to. */
  bytes(node: number): number {
    return this.#field(node, this.#size);
  }

  /** Returns for each object the first other object that refers to it; -1: there is none. */
  owners(): Int32Array {
    const { snapshot, edges } = this.#file;
    const { node_fields: fields, edge_fields: edgeFields, edge_types: edgeTypes } = snapshot.meta;
    const edgeWidth = edgeFields.length;
    const to = edgeFields.indexOf('to_node');
    const type = edgeFields.indexOf('type');
    const weak = edgeTypes[type]?.indexOf('weak');
    const edgeCount = fields.indexOf('edge_count');
    const owners = new Int32Array(this.count).fill(-1);
    let at = 0;
    for (let node = 0; node < this.count; node += 1) {
      const end = at + this.#field(node, edgeCount) * edgeWidth;
      for (; at < end; at += edgeWidth) {
        const target = (edges[at + to] ?? 0) / this.#width;
        const holds = edges[at + type] !== weak && this.kind(node) !== 'synthetic';
        if (holds && owners[target] === -1 && target !== node) owners[target] = node;
      }
    }
    return owners;
  }

  #field(node: number, field: number): number {
    return this.#file.nodes[node * this.#width + field] ?? 0;
  }
}
