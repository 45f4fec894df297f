import type { Report } from './report.ts';
import type { Ladder } from './sections/ladder.ts';
import type { Tables } from './sections/tables.ts';

/** All that RESULTS.md can tell about, by kind. */
export interface Results {
  readonly loadtest: readonly Report[];
  readonly ladder: readonly Ladder[];
  readonly heap: readonly Tables[];
  readonly micro: readonly Tables[];
}

export type Kind = keyof Results;

/** In the order in which they are told about. */
export const KINDS: readonly Kind[] = ['loadtest', 'ladder', 'heap', 'micro'];

/** What tells that a file holds what its kind says: enough to refuse one that does not. */
const LISTS: Readonly<Record<Kind, string>> = {
  loadtest: 'runs',
  ladder: 'steps',
  heap: 'tables',
  micro: 'tables',
};

interface File {
  readonly name: string;
  readonly content: string;
}

/** @throws Error that names the file, what was expected and what came */
export function readResults(files: readonly File[]): Results {
  const all: Record<Kind, unknown[]> = { loadtest: [], ladder: [], heap: [], micro: [] };
  for (const file of files) {
    const [kind, results] = read(file);
    all[kind].push(results);
  }
  return all as unknown as Results;
}

function read({ name, content }: File): readonly [Kind, unknown] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    throw new Error(`${name}: expected JSON, got ${(error as Error).message}`, { cause: error });
  }
  if (typeof parsed !== 'object' || parsed === null) {
    throw new Error(`${name}: expected an object, got ${content.slice(0, 40)}`);
  }
  const results = parsed as Readonly<Record<string, unknown>>;
  // What `yarn loadtest` writes has a version instead.
  const said = results['kind'] ?? (results['version'] === 1 ? 'loadtest' : undefined);
  const kind = KINDS.find((one) => one === said);
  if (kind === undefined) {
    throw new Error(`${name}: expected version 1 or a kind of ${KINDS.join(', ')}, got ${String(said)}`);
  }
  const missing = ['created', 'commit', 'machine', 'versions', 'commandLine', LISTS[kind]];
  for (const key of kind === 'loadtest' ? [...missing, 'load'] : missing) {
    if (results[key] === undefined) throw new Error(`${name}: expected ${key} in results of kind ${kind}`);
  }
  return [kind, results];
}
