/** `yarn loadtest`: the same load on Sluice and, if asked for, on what it is compared with. */
import { commit, machine, versions } from './environment.ts';
import { interruption, measure } from './measure.ts';
import { parseOptions, USAGE } from './options.ts';
import type { Report, Run } from './report/report.ts';
import { sluice } from './sluice.ts';
import { stock } from './stock/target.ts';
import type { Target } from './target.ts';

const TARGETS: Readonly<Record<string, Target>> = { stock };

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(USAGE);
    return;
  }
  const { load, against } = parseOptions(args, Object.keys(TARGETS));
  const targets = [sluice, ...against.map((name) => TARGETS[name] as Target)];
  const signal = interruption();
  const runs: Run[] = [];
  for (const target of targets) {
    runs.push(
      await measure(target, load, { phase: (...a) => console.error(...a), sample: () => undefined, signal }),
    );
  }
  const report: Report = {
    version: 1,
    created: new Date().toISOString(),
    commandLine: ['yarn loadtest', ...args].join(' '),
    commit: commit(),
    machine: machine(),
    versions: await versions(),
    load,
    runs,
  };
  for (const run of report.runs) {
    const { samples, ...rest } = run;
    console.log(JSON.stringify(rest, null, 1), samples.length);
    for (const t of ['single', 'flood'] as const)
      console.log(
        t,
        (run[t].cpuSeconds * 1e6) / run[t].deliveries,
        'µs',
        run[t].deliveries / run[t].seconds,
        '/s',
      );
    console.log(
      'idle heap',
      (run.idle.heapBytes - run.nothing.heapBytes) / run.idle.sockets,
      'rss',
      (run.idle.residentBytes - run.nothing.residentBytes) / run.idle.sockets,
    );
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
