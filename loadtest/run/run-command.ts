/** `yarn loadtest`: the same load on Sluice and, if asked for, on what it is compared with. */
import { origin } from './environment.ts';
import { interruption, measure } from './measure.ts';
import { parseOptions, USAGE } from './load-options.ts';
import { ProgressLine } from '../report/progress-line.ts';
import type { Report, Run } from '../report/report.ts';
import { defaultFolder, save } from '../report/save-report.ts';
import { summary } from '../report/terminal-summary.ts';
import { sluice } from '../targets/sluice.ts';
import { stock } from '../targets/stock/stock-target.ts';
import type { Target } from '../targets/target.ts';

const TARGETS: Readonly<Record<string, Target>> = { stock };

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(USAGE);
    return;
  }
  const { load, against, out } = parseOptions(args, Object.keys(TARGETS));
  const commandLine = ['yarn loadtest', ...args].join(' ');
  const line = new ProgressLine(process.stderr);
  const watcher = {
    phase: () => undefined,
    sample: (...seen: Parameters<ProgressLine['show']>) => line.show(...seen),
    signal: interruption(),
  };
  const runs: Run[] = [];
  for (const target of [sluice, ...against.flatMap((name) => TARGETS[name] ?? [])]) {
    runs.push(await measure(target, load, watcher));
    line.clear();
  }
  const report: Report = { version: 1, ...(await origin(commandLine)), load, runs };
  console.log(summary(report, process.stdout.isTTY));
  await save(report, out ?? defaultFolder(report));
  if (runs.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
