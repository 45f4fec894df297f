/** `yarn simulate`: runs seeds, and shows what goes wrong. See docs/internals/simulation.md. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { planOf } from './faults/plan.ts';
import { formatNumbers, parseNumbers, restrict, type Selection } from './restrict.ts';
import { run } from './run.ts';
import { shrink } from './shrink.ts';
import { loadSimulatedGraph, type SimulatedGraph } from './world/graph.ts';

const OPTIONS = {
  seed: { type: 'string' },
  faults: { type: 'string' },
  events: { type: 'string' },
  subscriptions: { type: 'string' },
  clients: { type: 'string' },
  pods: { type: 'string' },
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  workers: { type: 'string', default: '1' },
} as const;

/** After so many seeds with violations a run ends: they are likely to have one cause. */
const MOST_BAD = 10;

/** Seeds between two lines that say how far it is. */
const PROGRESS = 5_000;

const USAGE = `yarn simulate [--seeds n] [--from n] [--workers n]
yarn simulate --seed n [--faults 2,4-6|none] [--events …] [--subscriptions …] [--clients …] [--pods n]`;

const values = valuesGiven();
const failed = values.seed === undefined ? await runMany() : await replay(numberOf('seed', values.seed));
if (failed) process.exitCode = 1;

function valuesGiven() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exit(2);
  }
}

function numberOf(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name}: expected a whole number, got ${text}`);
  return Number(text);
}

/** Runs one seed, or a part of it, and prints all that happens. */
async function replay(seed: number): Promise<boolean> {
  const numbers = (text: string | undefined): number[] | undefined =>
    text === undefined ? undefined : parseNumbers(text);
  const plan = restrict(planOf(seed), {
    faults: numbers(values.faults),
    events: numbers(values.events),
    subscriptions: numbers(values.subscriptions),
    clients: numbers(values.clients),
    pods: values.pods === undefined ? undefined : numberOf('pods', values.pods),
  });
  const { violations, trace } = await run({ plan, shared: await loadSimulatedGraph(), isTraced: true });
  for (const line of trace) console.log(line);
  console.log(violations.length === 0 ? 'No violation.' : `\n${violations.join('\n')}`);
  return violations.length > 0;
}

async function runMany(): Promise<boolean> {
  const [from, seeds] = [numberOf('from', values.from), numberOf('seeds', values.seeds)];
  const workers = numberOf('workers', values.workers);
  if (workers <= 1) return runSeeds(from, seeds);
  const share = Math.ceil(seeds / workers);
  const codes = await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      const first = from + worker * share;
      const count = Math.min(share, from + seeds - first);
      if (count <= 0) return 0;
      const child = fork(import.meta.filename, ['--from', String(first), '--seeds', String(count)]);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    }),
  );
  return codes.some((code) => code !== 0);
}

async function runSeeds(from: number, count: number): Promise<boolean> {
  const shared = await loadSimulatedGraph();
  const begin = performance.now();
  let [bad, deliveries, told, resumed] = [0, 0, 0, 0];
  for (let seed = from; seed < from + count; seed += 1) {
    const { violations, summary } = await run({ plan: planOf(seed), shared });
    deliveries += summary.deliveries;
    told += summary.told;
    resumed += summary.resumed;
    if (violations.length > 0) {
      bad += 1;
      await report(seed, violations, shared);
    }
    const done = seed - from + 1;
    if (done % PROGRESS !== 0 && done !== count && bad < MOST_BAD) continue;
    const perSeed = ((performance.now() - begin) / done).toFixed(1);
    console.log(
      `seeds ${from}–${seed}: ${bad} with violations, ${deliveries} deliveries, told ${told} times, ` +
        `resumed ${resumed} times, ${perSeed} ms a seed`,
    );
    if (bad === MOST_BAD) return true;
  }
  return bad > 0;
}

async function report(seed: number, violations: readonly string[], shared: SimulatedGraph): Promise<void> {
  console.log(`\nseed ${seed}:\n  ${violations.join('\n  ')}`);
  const fails = async (plan: ReturnType<typeof planOf>): Promise<boolean> =>
    (await run({ plan, shared })).violations.length > 0;
  const plan = planOf(seed);
  const kept = await shrink(plan, fails);
  console.log(`  replay: yarn simulate --seed ${seed}${flagsOf(kept)}`);
  for (const fault of restrict(plan, kept).faults) console.log(`    ${JSON.stringify(fault)}`);
}

function flagsOf({ faults, events, subscriptions, clients, pods }: Selection): string {
  const lists = Object.entries({ faults, subscriptions, clients, events })
    .filter(([, numbers]) => numbers !== undefined)
    .map(([name, numbers]) => ` --${name} ${formatNumbers(numbers ?? [])}`);
  return `${lists.join('')}${pods === undefined ? '' : ` --pods ${pods}`}`;
}
