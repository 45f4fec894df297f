/** `yarn simulate`: runs seeds, and shows their violations; docs/internals/simulation.md describes it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { planOf } from './faults/draw-plan.ts';
import type { Plan } from './faults/plan.ts';
import { run } from './run.ts';
import { restrict, shrink, type Selection } from './shrink.ts';
import { loadSimulatedGraph } from './world/graph.ts';

const OPTIONS = {
  seed: { type: 'string' },
  keep: { type: 'string', default: '{}' },
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  workers: { type: 'string', default: '1' },
} as const;

/** A run ends after this many seeds with violations, which are likely to have one cause. */
const MOST_BAD = 10;

/** The number of seeds between two lines of progress. */
const PROGRESS = 5_000;

const { seed, keep, ...range } = parseArgs({ options: OPTIONS }).values;
const shared = await loadSimulatedGraph();
const failed = seed === undefined ? await runMany() : await replay(numberOf(seed));
if (failed) process.exitCode = 1;

function numberOf(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`expected a whole number, got ${text}`);
  return Number(text);
}

/** Runs one seed, or a part of it, and prints all that happens. @returns whether there are violations */
async function replay(number: number): Promise<boolean> {
  const plan = restrict(planOf(number), JSON.parse(keep) as Selection);
  const { violations, trace } = await run({ plan, shared, isTraced: true });
  for (const line of trace) console.log(line);
  console.log(violations.length === 0 ? 'No violation.' : `\n${violations.join('\n')}`);
  return violations.length > 0;
}

async function runMany(): Promise<boolean> {
  const [from, seeds, workers] = [range.from, range.seeds, range.workers].map(numberOf) as [
    number,
    number,
    number,
  ];
  if (workers <= 1) return runSeeds(from, seeds);
  const share = Math.ceil(seeds / workers);
  const codes = await Promise.all(
    Array.from({ length: Math.ceil(seeds / share) }, async (_, worker) => {
      const count = Math.min(share, seeds - worker * share);
      const args = ['--from', String(from + worker * share), '--seeds', String(count)];
      const [code] = (await once(fork(import.meta.filename, args), 'exit')) as [number | null];
      return code;
    }),
  );
  return codes.some((code) => code !== 0);
}

async function runSeeds(from: number, count: number): Promise<boolean> {
  const begin = performance.now();
  let [bad, deliveries, told, resumed] = [0, 0, 0, 0];
  for (let number = from; number < from + count; number += 1) {
    const plan = planOf(number);
    const outcome = await run({ plan, shared });
    deliveries += outcome.deliveries;
    told += outcome.told;
    resumed += outcome.resumed;
    if (outcome.violations.length > 0) {
      bad += 1;
      await report(plan, outcome.violations);
    }
    const done = number - from + 1;
    if (done % PROGRESS !== 0 && done !== count && bad < MOST_BAD) continue;
    const perSeed = ((performance.now() - begin) / done).toFixed(1);
    console.log(
      `seeds ${from}–${number}: ${bad} with violations, ${deliveries} deliveries, told ${told} times, ` +
        `resumed ${resumed} times, ${perSeed} ms a seed`,
    );
    if (bad === MOST_BAD) return true;
  }
  return bad > 0;
}

async function report(plan: Plan, violations: readonly string[]): Promise<void> {
  console.log(`\nseed ${plan.seed}:\n  ${violations.join('\n  ')}`);
  const kept = await shrink(plan, async (part) => (await run({ plan: part, shared })).violations.length > 0);
  console.log(`  replay: yarn simulate --seed ${plan.seed} --keep '${JSON.stringify(kept)}'`);
  for (const fault of restrict(plan, kept).faults) console.log(`    ${JSON.stringify(fault)}`);
}
