/** `yarn loadtest:ladder`: every step of the ladder under the same load, one after the other. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { origin } from '../../run/environment.ts';
import { REFUSED } from '../../clients/client-messages.ts';
import { interruption, measure } from '../../run/measure.ts';
import type { Load } from '../../report/report.ts';
import type { Ladder } from '../../report/sections/ladder-section.ts';
import { climbed, ladderTable, type Climbed } from './step-result.ts';
import { STEPS } from './ladder-steps.ts';
import { ladderTargets } from './ladder-targets.ts';

const OPTIONS = {
  sockets: { type: 'string', default: '4000' },
  seconds: { type: 'string', default: '20' },
  out: { type: 'string' },
} as const;

const USAGE = `Usage: yarn loadtest:ladder [options]

  --sockets    sockets that all get every event (${OPTIONS.sockets.default})
  --seconds    of flood for each step (${OPTIONS.seconds.default})
  --out        file for the figures as JSON (loadtest/out/ladder-<time>.json)`;

/** Events sent one at a time: the first step takes a second or more for each. */
const SINGLES = 3;

/**
 * The first step handles few events a second, and what is under way when the flood ends has to arrive still; the last
 * ones need many under way. So as many are as the step before has handled in this time.
 */
const WINDOW_SECONDS = 2;
const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 256;

const ROOT = path.join(import.meta.dirname, '../../../..');

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(USAGE);
    return;
  }
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const sockets = positive('sockets', values.sockets);
  const seconds = positive('seconds', values.seconds);
  const from = await origin(['yarn loadtest:ladder', ...args].join(' '));
  const named = `ladder-${from.created.replaceAll(':', '-')}.json`;
  const file = values.out ?? path.join(ROOT, 'loadtest/out', named);
  const steps = await climb(sockets, seconds);
  const ladder: Ladder = { kind: 'ladder', ...from, sockets, secondsPerStep: seconds, steps };
  console.log(ladderTable(steps));
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(ladder, null, 2)}\n`);
  console.log(path.relative(process.cwd(), file));
}

/** @throws Error if a step loses an event, or delivers a wrong one */
async function climb(sockets: number, seconds: number): Promise<readonly Climbed[]> {
  const signal = interruption();
  const steps: Climbed[] = [];
  let window = FIRST_WINDOW;
  for (const [index, target] of ladderTargets.entries()) {
    const { name, changes } = STEPS[index] ?? { name: target.name, changes: '' };
    console.error(`${index + 1}/${ladderTargets.length} ${name}: ${changes}`);
    const load: Load = {
      sockets,
      channels: 0,
      ids: 'unique',
      variables: 'same',
      payloadBytes: 200,
      singles: SINGLES,
      floodSeconds: seconds,
      window,
      rate: 0,
      stalled: 0,
      pods: 1,
      graph: 'flat',
    };
    const run = await measure(target, load, {
      phase: () => undefined,
      sample: () => undefined,
      // One of each step's own, as its listeners stay.
      signal: AbortSignal.any([signal]),
    });
    // The first steps are too busy to let anybody in: that is what they are there to show.
    const faults = run.faults.filter((fault) => fault !== REFUSED);
    if (faults.length > 0) throw new Error([`${name} is not correct:`, ...faults].join('\n'));
    const step = climbed(name, changes, run, seconds, steps[0]);
    steps.push(step);
    console.error(`    ${step.events} events, ${step.cpuMicrosPerDelivery} µs of CPU per delivery`);
    window = Math.round((step.events / seconds) * WINDOW_SECONDS);
    window = Math.min(Math.max(window, FIRST_WINDOW), LARGEST_WINDOW);
  }
  return steps;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name}: expected a whole number from 1 on, got ${text}`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
