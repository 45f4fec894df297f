/**
 * `yarn bench:check`: several short runs of Sluice and stock in turn, and the median of each budget over them. Ends
 * with 1 when one is missed, or could not be measured. `--small` is for continuous integration: few sockets, and limits of its own.
 */
import { parseArgs } from 'node:util';
import { origin } from './environment.ts';
import { interruption, measure } from './measure.ts';
import { BUDGETS, type Budget } from '../report/budgets.ts';
import { budgetRow } from '../report/comparison-tables.ts';
import { ProgressLine } from '../report/progress-line.ts';
import type { Load, Report } from '../report/report.ts';
import { tableText } from '../report/terminal-summary.ts';
import { parseOptions } from './load-options.ts';
import { sluice } from '../targets/sluice.ts';
import { stock } from '../targets/stock/stock-target.ts';
import { medians } from './medians.ts';
import { SMALL_BUDGETS } from './small-budgets.ts';

interface Plan {
  readonly load: Load;
  readonly budgets: readonly Budget[];
}

const SHORT = ['--singles=40', '--duration=5'];

const FULL: readonly Plan[] = [
  { load: parseOptions(SHORT, []).load, budgets: BUDGETS },
  { load: parseOptions([...SHORT, '--channels=4000', '--window=8000'], []).load, budgets: BUDGETS },
];

const SMALL: readonly Plan[] = [
  { load: parseOptions(['--sockets=500', '--singles=40', '--duration=3'], []).load, budgets: SMALL_BUDGETS },
];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { small: { type: 'boolean', default: false }, rounds: { type: 'string', default: '3' } },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20) {
    throw new Error(`--rounds: expected a number from 1 to 20, got ${values.rounds}`);
  }
  const signal = interruption();
  for (const plan of values.small ? SMALL : FULL) {
    const reports: Report[] = [];
    for (let round = 0; round < rounds; round += 1) reports.push(await oneRound(plan.load, signal));
    const judgements = medians(reports, plan.budgets);
    console.log(tableText({ columns: ['budget', 'limit', 'median', ''], rows: judgements.map(budgetRow) }));
    if (judgements.some(({ verdict }) => verdict !== 'met')) process.exitCode = 1;
  }
}

async function oneRound(load: Load, signal: AbortSignal): Promise<Report> {
  const line = new ProgressLine(process.stderr);
  const watcher = {
    phase: () => undefined,
    sample: (...seen: Parameters<ProgressLine['show']>) => line.show(...seen),
    signal,
  };
  const runs = [await measure(sluice, load, watcher), await measure(stock, load, watcher)];
  line.clear();
  return { version: 1, ...(await origin('yarn bench:check')), load, runs };
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
