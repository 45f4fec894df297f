import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Report } from './report.ts';
import type { Ladder } from './sections/ladder-section.ts';
import type { Tables } from './sections/tables-section.ts';

/** The results that RESULTS.md reports, by kind. */
export interface Results {
  readonly loadtest: readonly Report[];
  readonly ladder: readonly Ladder[];
  readonly heap: readonly Tables[];
  readonly cycles: readonly Tables[];
  readonly storm: readonly Tables[];
  readonly chaos: readonly Tables[];
  readonly growth: readonly Tables[];
  readonly shapes: readonly Tables[];
  readonly drivers: readonly Tables[];
  readonly micro: readonly Tables[];
}

export type Kind = keyof Results;

/** Kinds in the order of RESULTS.md. */
export const KINDS: readonly Kind[] = [
  'loadtest',
  'ladder',
  'heap',
  'cycles',
  'storm',
  'chaos',
  'growth',
  'shapes',
  'drivers',
  'micro',
];

/** The list that a file of each kind must hold: enough of a check to refuse other files. */
const LISTS: Readonly<Record<Kind, string>> = {
  loadtest: 'runs',
  ladder: 'steps',
  heap: 'tables',
  cycles: 'tables',
  storm: 'tables',
  chaos: 'tables',
  growth: 'tables',
  shapes: 'tables',
  drivers: 'tables',
  micro: 'tables',
};

const COMMON = ['created', 'commit', 'machine', 'versions', 'commandLine'];

interface File {
  readonly name: string;
  readonly content: string;
}

/** @throws Error that names the file, what was expected and what came */
export function readResults(files: readonly File[]): Results {
  const all: Record<Kind, unknown[]> = {
    loadtest: [],
    ladder: [],
    heap: [],
    cycles: [],
    storm: [],
    chaos: [],
    growth: [],
    shapes: [],
    drivers: [],
    micro: [],
  };
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
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Error(`${name}: expected an object, got ${content.slice(0, 40)}`);
  }
  const results = parsed as Readonly<Record<string, unknown>>;
  const kind = kindOf(name, results);
  for (const key of kind === 'loadtest' ? [...COMMON, 'load'] : COMMON) {
    if (results[key] == null) throw new Error(`${name}: expected ${key} in results of kind ${kind}`);
  }
  const list = results[LISTS[kind]];
  if (!Array.isArray(list)) {
    const got = list == null ? 'nothing' : JSON.stringify(list).slice(0, 40);
    throw new Error(`${name}: expected ${LISTS[kind]}, a list, in results of kind ${kind}, got ${got}`);
  }
  return [kind, results];
}

/** The files of `yarn loadtest run` have a version in place of a kind. */
function kindOf(name: string, { kind: said, version }: Readonly<Record<string, unknown>>): Kind {
  const kind = said === undefined && version === 1 ? 'loadtest' : KINDS.find((one) => one === said);
  if (kind !== undefined) return kind;
  const got = said === undefined ? `version ${String(version)}` : String(said);
  throw new Error(`${name}: expected version 1 or a kind of ${KINDS.join(', ')}, got ${got}`);
}

/** Writes the results of a subcommand, and prints the file's name. */
export async function saveResults(file: string, results: Ladder | Tables): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  console.error(path.relative(process.cwd(), path.resolve(file)));
}
