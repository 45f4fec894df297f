import { readFile } from 'node:fs/promises';

/** What all things of one name come to. */
export interface Line {
  readonly count: number;
  readonly bytes: number;
}

/** By name: a constructor; or a kind in brackets, with whatever holds on to it. */
export type Summary = ReadonlyMap<string, Line>;

/** What V8 writes: flat lists of numbers, described by `meta`. */
interface Snapshot {
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

/** Kinds of V8's own that say nothing unless one knows whose they are. */
const OWNED: ReadonlySet<string> = new Set(['array', 'hidden', 'native', 'object shape', 'closure', 'code']);

const KINDS: Readonly<Record<string, string>> = {
  string: '(string)',
  'concatenated string': '(string)',
  'sliced string': '(string)',
  number: '(number)',
  symbol: '(symbol)',
  bigint: '(bigint)',
  regexp: '(regexp)',
};

/** Adds a heap snapshot up by name. */
export async function summarise(file: string): Promise<Summary> {
  const nodes = new Nodes(JSON.parse(await readFile(file, 'utf8')) as Snapshot);
  const lines = new Map<string, { count: number; bytes: number }>();
  for (let node = 0; node < nodes.count; node += 1) {
    const name = nodes.name(node);
    const line = lines.get(name) ?? { count: 0, bytes: 0 };
    line.count += 1;
    line.bytes += nodes.bytes(node);
    lines.set(name, line);
  }
  return lines;
}

class Nodes {
  readonly count: number;
  readonly #snapshot: Snapshot;
  readonly #width: number;
  readonly #type: number;
  readonly #name: number;
  readonly #size: number;
  readonly #types: readonly string[];
  /** For each node, the first other one that holds on to it; -1: none. */
  readonly #owners: Int32Array;

  constructor(snapshot: Snapshot) {
    const { node_fields: fields, node_types: types } = snapshot.snapshot.meta;
    this.#snapshot = snapshot;
    this.#width = fields.length;
    this.#type = fields.indexOf('type');
    this.#name = fields.indexOf('name');
    this.#size = fields.indexOf('self_size');
    this.#types = types[this.#type] ?? [];
    this.count = snapshot.nodes.length / this.#width;
    this.#owners = this.#findOwners();
  }

  bytes(node: number): number {
    return this.#field(node, this.#size);
  }

  name(node: number): string {
    const kind = this.#kind(node);
    if (!OWNED.has(kind)) return KINDS[kind] ?? this.#ownName(node);
    const own = this.#ownName(node);
    return `(${kind === 'hidden' ? 'internal' : kind})${own === '' ? '' : ` ${own}`} of ${this.#owner(node)}`;
  }

  /** The nearest holder with a name of its own. */
  #owner(node: number): string {
    let owner = this.#owners[node] ?? -1;
    for (let step = 0; step < 4 && owner >= 0; step += 1) {
      if (!OWNED.has(this.#kind(owner))) return KINDS[this.#kind(owner)] ?? this.#ownName(owner);
      owner = this.#owners[owner] ?? -1;
    }
    return owner < 0 ? 'nobody' : this.#ownName(owner);
  }

  #ownName(node: number): string {
    return this.#snapshot.strings[this.#field(node, this.#name)] ?? '';
  }

  #kind(node: number): string {
    return this.#types[this.#field(node, this.#type)] ?? '';
  }

  #field(node: number, field: number): number {
    return this.#snapshot.nodes[node * this.#width + field] ?? 0;
  }

  #findOwners(): Int32Array {
    const { meta } = this.#snapshot.snapshot;
    const { edges } = this.#snapshot;
    const edgeWidth = meta.edge_fields.length;
    const to = meta.edge_fields.indexOf('to_node');
    const type = meta.edge_fields.indexOf('type');
    const weak = meta.edge_types[type]?.indexOf('weak');
    const edgeCount = meta.node_fields.indexOf('edge_count');
    const owners = new Int32Array(this.count).fill(-1);
    let at = 0;
    for (let node = 0; node < this.count; node += 1) {
      const end = at + this.#field(node, edgeCount) * edgeWidth;
      for (; at < end; at += edgeWidth) {
        const target = (edges[at + to] ?? 0) / this.#width;
        const holds = edges[at + type] !== weak && this.#kind(node) !== 'synthetic';
        if (holds && owners[target] === -1 && target !== node) owners[target] = node;
      }
    }
    return owners;
  }
}
