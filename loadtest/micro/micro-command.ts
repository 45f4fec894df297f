/** `yarn bench` and `yarn bench:<name>`: parts of the gateway beside other ways to do the same. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/errors.ts';
import { measure, type Case, type Effort } from './bench.ts';
import { measureHeap, type HeapCase } from './heap-case.ts';
import { format, tableOf, type Result } from './micro-table.ts';

interface Benchmark {
  readonly cases: readonly Case[];
  readonly heapCases?: readonly HeapCase[];
}

type Tell = (result: Result) => void;

const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  hub: () => import('./benchmarks/hub.ts'),
  frame: () => import('./benchmarks/frame.ts'),
  flush: () => import('./benchmarks/flush.ts'),
  'snake-case': () => import('./benchmarks/snake-case.ts'),
  'group-key': () => import('./benchmarks/group-key.ts'),
  documents: () => import('./benchmarks/documents.ts'),
  context: () => import('./benchmarks/context.ts'),
  lazy: () => import('./benchmarks/lazy.ts'),
};

const HELP = `yarn bench [<name> …]    of ${Object.keys(BENCHMARKS).join(', ')}; all if none is named
  --cases <text>         only cases whose names contain it
  --rounds <n>           in each of which all variants take turns (11)
  --turn-ms <n>          how long one variant's turn should take (50); 0: one operation
  --json                 the figures, in ns and bytes, as one line of JSON for each case
  --out <file>           writes them as tables too, for yarn loadtest:results`;

interface Options extends Effort {
  readonly names: readonly string[];
  readonly cases: string;
  readonly json: boolean;
  readonly out: string | undefined;
}

function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      cases: { type: 'string', default: '' },
      rounds: { type: 'string', default: '11' },
      'turn-ms': { type: 'string', default: '50' },
      json: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  for (const name of positionals) {
    if (Object.hasOwn(BENCHMARKS, name)) continue;
    throw new Error(`Expected one of ${Object.keys(BENCHMARKS).join(', ')}, got ${name}.`);
  }
  return {
    names: positionals.length === 0 ? Object.keys(BENCHMARKS) : positionals,
    cases: values.cases,
    rounds: integer('--rounds', values.rounds, 1),
    turnMs: integer('--turn-ms', values['turn-ms'], 0),
    json: values.json,
    out: values.out,
  };
}

function integer(option: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`Expected an integer from ${least} on for ${option}, got ${text}.`);
}

/** Ends with the first case whose variants do not do the same. */
async function run(benchmark: string, { cases: contain, ...effort }: Options, tell: Tell): Promise<void> {
  const { cases, heapCases = [] } = (await BENCHMARKS[benchmark]?.()) ?? { cases: [] };
  const wanted = ({ name }: Case | HeapCase): boolean => name.includes(contain);
  for (const one of cases.filter(wanted)) {
    tell({ benchmark, name: one.name, unit: one.unit, variants: await measure(one, effort) });
  }
  for (const one of heapCases.filter(wanted)) {
    tell({
      benchmark,
      name: one.name,
      unit: one.unit,
      variants: await measureHeap(one, effort.turnMs === 0),
    });
  }
}

/** In a process of its own: V8 compiles shared code for what it has met, which would be another benchmark. */
async function runApart(name: string, { cases, rounds, turnMs }: Options, tell: Tell): Promise<void> {
  const options = ['--json', `--cases=${cases}`, `--rounds=${rounds}`, `--turn-ms=${turnMs}`];
  const child = spawn(process.execPath, [import.meta.filename, name, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) tell(JSON.parse(line) as Result);
  const [code] = (await ended) as [number | null];
  if (code !== 0) process.exitCode = 1;
}

async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  if (options === undefined) {
    console.log(HELP);
    return;
  }
  const { names, json, out } = options;
  const results: Result[] = [];
  const tell: Tell = (result) => {
    results.push(result);
    console.log(json ? JSON.stringify(result) : format(result));
  };
  const [first, ...more] = names;
  if (first !== undefined && more.length === 0) await run(first, options, tell);
  else for (const name of names) await runApart(name, options, tell);
  if (out === undefined || process.exitCode === 1) return;
  // Whatever it brings along is loaded when nothing is measured any more.
  const { origin } = await import('../run/environment.ts');
  const made = await origin(['yarn bench', ...args].join(' '));
  const tables = results.map(tableOf);
  await writeFile(out, `${JSON.stringify({ kind: 'micro', ...made, tables }, null, 2)}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
