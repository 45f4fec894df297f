import { defineCommand } from '../command.ts';
import { origin } from '../report/origin.ts';
import type { Report } from '../report/report.ts';
import { defaultFolder, save } from '../report/save-report.ts';
import { summary } from '../report/terminal-summary.ts';
import { againstOption, readAgainst, targetsOf } from '../targets/peers/peers.ts';
import { driverOption, sluiceWith } from '../targets/sluice.ts';
import { loadOptions, readLoad, STANDARD_LOAD } from './load-options.ts';
import { interruption, measureEach } from './measure.ts';

export const command = defineCommand({
  summary: 'puts Sluice and, with --against, other servers under the same load, and saves a report',
  needsServices: true,
  options: {
    ...loadOptions(STANDARD_LOAD),
    driver: driverOption,
    against: againstOption,
    out: {
      type: 'string',
      help: 'folder for report.json, report.html and plots (loadtest/out/<time>-<commit>)',
    },
  },
  prepare({ values: { driver, against, out, ...values }, commandLine }) {
    const subject = sluiceWith(driver);
    const load = readLoad(values);
    const others = readAgainst(against);
    return async () => {
      const signal = interruption();
      const targets = [subject, ...(await targetsOf(others, signal))];
      const runs = await measureEach(targets, load, signal);
      const report: Report = { version: 1, ...(await origin(commandLine)), load, runs };
      console.log(summary(report, process.stdout.isTTY));
      await save(report, out ?? defaultFolder(report));
      if (runs.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
    };
  },
});
