import path from 'node:path';
import { REFUSED } from '../../clients/client-messages.ts';
import { defineCommand, wholeNumber } from '../../command.ts';
import { origin } from '../../report/origin.ts';
import { saveResults } from '../../report/result-files.ts';
import { OUT } from '../../report/save-report.ts';
import type { LadderStep } from '../../report/sections/ladder-section.ts';
import { tableText } from '../../report/text-table.ts';
import { LONGEST_SECONDS, readSockets, socketsOption, STANDARD_LOAD } from '../../run/load-options.ts';
import { interruption, measure } from '../../run/measure.ts';
import { STEPS } from './ladder-steps.ts';
import { ladderTargets } from './ladder-targets.ts';
import { resultOfStep, stepTable } from './step-result.ts';

/** The number of events sent one at a time: the first step takes a second or more for each. */
const SINGLES = 3;

/**
 * The window holds the events that the step before has handled in this time. The first step handles few events a
 * second, and the events under way must still arrive when the flood ends; the last steps need many under way.
 */
const WINDOW_SECONDS = 2;
const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 256;

export const command = defineCommand({
  summary: 'puts every step of a well-known tuning story under the same load, one after the other',
  needsServices: true,
  options: {
    sockets: socketsOption('4000'),
    seconds: { type: 'string', default: '20', help: 'seconds of flood for each step' },
    out: { type: 'string', help: 'file for the figures as JSON (loadtest/out/ladder-<time>.json)' },
  },
  prepare({ values, commandLine }) {
    const sockets = readSockets(values.sockets);
    const seconds = wholeNumber('seconds', values.seconds, 1, LONGEST_SECONDS);
    return async () => {
      const made = await origin(commandLine);
      const file = values.out ?? path.join(OUT, `ladder-${made.created.replaceAll(':', '-')}.json`);
      const steps = await climb(sockets, seconds);
      console.log(tableText(stepTable(steps)));
      await saveResults(file, { kind: 'ladder', ...made, sockets, secondsPerStep: seconds, steps });
    };
  },
});

/** @throws Error if a step loses an event, or delivers a wrong one */
async function climb(sockets: number, seconds: number): Promise<readonly LadderStep[]> {
  const signal = interruption();
  const steps: LadderStep[] = [];
  let window = FIRST_WINDOW;
  for (const [index, target] of ladderTargets.entries()) {
    const { name, changes } = STEPS[index] ?? { name: target.name, changes: '' };
    console.error(`${index + 1}/${ladderTargets.length} ${name}: ${changes}`);
    const load = { ...STANDARD_LOAD, sockets, singles: SINGLES, floodSeconds: seconds, window };
    const run = await measure(target, load, { signal });
    // The first steps are expected to be too busy to accept another client in time.
    const faults = run.faults.filter((fault) => fault !== REFUSED);
    if (faults.length > 0) throw new Error([`${name} is not correct:`, ...faults].join('\n'));
    const step = resultOfStep(name, changes, run, seconds, steps[0]);
    steps.push(step);
    console.error(`    ${step.events} events, ${step.cpuMicrosPerDelivery} µs of CPU per delivery`);
    window = Math.round((step.events / seconds) * WINDOW_SECONDS);
    window = Math.min(Math.max(window, FIRST_WINDOW), LARGEST_WINDOW);
  }
  return steps;
}
