import { readFile } from 'node:fs/promises';
import { HeapSnapshot } from './heap-snapshot.ts';

/** The sum over all objects of one name. */
export interface Line {
  readonly count: number;
  readonly bytes: number;
}

/** Sums by name: a constructor; or a kind in brackets, with the object that holds it. */
export type Summary = ReadonlyMap<string, Line>;

/** V8's own kinds, whose objects are named by their owners: their own names say too little. */
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

/** The number of owners that are followed upwards. */
const MOST_OWNERS = 4;

/** Adds a heap snapshot up by name. */
export async function summarise(file: string): Promise<Summary> {
  const snapshot = new HeapSnapshot(await readFile(file, 'utf8'));
  const owners = snapshot.owners();
  const lines = new Map<string, { count: number; bytes: number }>();
  for (let node = 0; node < snapshot.count; node += 1) {
    const name = nameOf(node, snapshot, owners);
    const line = lines.get(name) ?? { count: 0, bytes: 0 };
    line.count += 1;
    line.bytes += snapshot.bytes(node);
    lines.set(name, line);
  }
  return lines;
}

function nameOf(node: number, snapshot: HeapSnapshot, owners: Int32Array): string {
  const kind = snapshot.kind(node);
  const name = snapshot.name(node);
  if (!OWNED.has(kind)) return KINDS[kind] ?? name;
  const owner = ownerOf(node, snapshot, owners);
  return `(${kind === 'hidden' ? 'internal' : kind})${name === '' ? '' : ` ${name}`} of ${owner}`;
}

/** The nearest owner with a name of its own. */
function ownerOf(node: number, snapshot: HeapSnapshot, owners: Int32Array): string {
  let owner = owners[node] ?? -1;
  for (let step = 0; step < MOST_OWNERS && owner >= 0; step += 1) {
    const kind = snapshot.kind(owner);
    if (!OWNED.has(kind)) return KINDS[kind] ?? snapshot.name(owner);
    owner = owners[owner] ?? -1;
  }
  return owner < 0 ? 'no owner' : snapshot.name(owner);
}
