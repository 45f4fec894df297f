/** `yarn bench` and `yarn bench:<name>`: parts of the gateway beside other ways to do the same. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/errors.ts';
import { measure, type Case, type Effort } from './bench.ts';
import { measureHeap, type HeapCase } from './heap-case.ts';
import { format, type Result } from './table.ts';

interface Benchmark {
  readonly cases: readonly Case[];
  readonly heapCases?: readonly HeapCase[];
}

const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  hub: () => import('./hub.ts'),
  frame: () => import('./frame.ts'),
  flush: () => import('./flush.ts'),
  'snake-case': () => import('./snake-case.ts'),
  'group-key': () => import('./group-key.ts'),
  documents: () => import('./documents.ts'),
  context: () => import('./context.ts'),
  lazy: () => import('./lazy.ts'),
};

const HELP = `yarn bench [<name> …]    of ${Object.keys(BENCHMARKS).join(', ')}; all if none is named
  --cases <text>         only cases whose names contain it
  --rounds <n>           in each of which all variants take turns (11)
  --turn-ms <n>          how long one variant's turn should take (50); 0: one operation
  --json                 the figures, in ns and bytes, as one line of JSON for each case`;

interface Options extends Effort {
  readonly names: readonly string[];
  readonly cases: string;
  readonly json: boolean;
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
  };
}

function integer(option: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`Expected an integer from ${least} on for ${option}, got ${text}.`);
}

/** Ends with the first case whose variants do not do the same. */
async function run(benchmark: string, { cases: contain, json, ...effort }: Options): Promise<void> {
  const { cases, heapCases = [] } = (await BENCHMARKS[benchmark]?.()) ?? { cases: [] };
  const wanted = ({ name }: Case | HeapCase): boolean => name.includes(contain);
  const tell = (result: Result): void => console.log(json ? JSON.stringify(result) : format(result));
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

/** Each in a process of its own: V8 compiles shared code for what it has met, which would be another benchmark. */
async function runApart(names: readonly string[], args: readonly string[]): Promise<void> {
  for (const name of names) {
    const child = spawn(process.execPath, [import.meta.filename, name, ...args], { stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) process.exitCode = 1;
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) console.log(HELP);
  else {
    const { names } = options;
    const flags = process.argv.slice(2).filter((arg) => !names.includes(arg));
    if (names.length === 1 && names[0] !== undefined) await run(names[0], options);
    else await runApart(names, flags);
  }
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
