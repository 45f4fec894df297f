import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { defineCommand, UsageError, wholeNumber } from '../command.ts';
import { measureCase, type Case } from './bench.ts';
import { measureHeapCase, type HeapCase } from './heap-case.ts';
import { format, tableOf, type Result } from './micro-table.ts';
import type { StageCase } from './stages.ts';

interface Benchmark {
  readonly cases?: readonly Case[];
  readonly heapCases?: readonly HeapCase[];
  readonly stageCases?: readonly StageCase[];
}

const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  hub: () => import('./benchmarks/hub.ts'),
  frame: () => import('./benchmarks/frame.ts'),
  flush: () => import('./benchmarks/flush.ts'),
  'snake-case': () => import('./benchmarks/snake-case.ts'),
  'group-key': () => import('./benchmarks/group-key.ts'),
  documents: () => import('./benchmarks/documents.ts'),
  context: () => import('./benchmarks/context.ts'),
  lazy: () => import('./benchmarks/lazy.ts'),
  tracing: () => import('./benchmarks/tracing.ts'),
  explain: () => import('./benchmarks/explain.ts'),
  ingest: () => import('./benchmarks/ingest.ts'),
  formats: () => import('./benchmarks/formats.ts'),
};

const NAMES = Object.keys(BENCHMARKS);

const ROUNDS = 11;

const CLI = path.join(import.meta.dirname, '../cli.js');

interface Options {
  /** Only cases whose names contain this text are measured. */
  readonly cases: string;
  readonly rounds: number | undefined;
  readonly turnMs: number;
}

type Tell = (result: Result) => void;

export const command = defineCommand({
  summary: `measures parts of the gateway beside other ways to do the same: ${NAMES.join(', ')}`,
  positionals: '[name …]',
  needsServices: false,
  options: {
    cases: { type: 'string', default: '', help: 'only cases (of ingest: stages) whose names contain it' },
    rounds: { type: 'string', help: 'rounds, in each of which all variants take turns (11; of ingest 30)' },
    'turn-ms': {
      type: 'string',
      default: '50',
      help: "how long one variant's turn should take; 0: one operation",
    },
    json: {
      type: 'boolean',
      help: 'the figures, in ns and bytes, as one line of JSON for each case',
    },
    out: { type: 'string', help: 'file for the tables as JSON' },
  },
  prepare({ values, positionals, commandLine }) {
    for (const name of positionals) {
      if (!NAMES.includes(name)) throw new UsageError(`expected one of ${NAMES.join(', ')}, got ${name}`);
    }
    const options: Options = {
      cases: values.cases,
      rounds: values.rounds === undefined ? undefined : wholeNumber('rounds', values.rounds, 1, 10_000),
      turnMs: wholeNumber('turn-ms', values['turn-ms'], 0, 60_000),
    };
    return async () => {
      const results: Result[] = [];
      const tell: Tell = (result) => {
        results.push(result);
        console.log(values.json ? JSON.stringify(result) : format(result));
      };
      const [first, ...more] = positionals.length === 0 ? NAMES : positionals;
      if (first !== undefined && more.length === 0) await run(first, options, tell);
      else for (const name of [first ?? '', ...more]) await runApart(name, options, tell);
      if (values.out === undefined || process.exitCode === 1) return;
      await save(values.out, commandLine, results);
    };
  },
});

/** Measures the cases of one benchmark, up to the first case whose variants give different results. */
async function run(name: string, { cases: contain, rounds, turnMs }: Options, tell: Tell): Promise<void> {
  const { cases = [], heapCases = [], stageCases = [] } = (await BENCHMARKS[name]?.()) ?? {};
  const wanted = (one: Case | HeapCase): boolean => one.name.includes(contain);
  const found = ({ name: of, unit }: Case | HeapCase | StageCase, variants: Result['variants']): void =>
    tell({ benchmark: name, name: of, unit, variants });
  for (const one of cases.filter(wanted)) {
    found(one, await measureCase(one, { rounds: rounds ?? ROUNDS, turnMs }));
  }
  for (const one of heapCases.filter(wanted)) found(one, await measureHeapCase(one, turnMs === 0));
  for (const one of stageCases) {
    const stages = await one.measure(contain, rounds);
    if (stages.length > 0) found(one, stages);
  }
}

/** Runs a benchmark in a process of its own: V8 would compile shared code for another benchmark's calls, too. */
async function runApart(name: string, { cases, rounds, turnMs }: Options, tell: Tell): Promise<void> {
  const options = ['--json', `--cases=${cases}`, `--turn-ms=${turnMs}`];
  if (rounds !== undefined) options.push(`--rounds=${rounds}`);
  const child = spawn(process.execPath, [CLI, 'micro', name, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) tell(JSON.parse(line) as Result);
  const [code] = (await ended) as [number | null];
  if (code !== 0) process.exitCode = 1;
}

async function save(file: string, commandLine: string, results: readonly Result[]): Promise<void> {
  // Loaded only after all measurements: a benchmark measures its whole process.
  const { origin } = await import('../report/origin.ts');
  const { saveResults } = await import('../report/result-files.ts');
  await saveResults(file, { kind: 'micro', ...(await origin(commandLine)), tables: results.map(tableOf) });
}
