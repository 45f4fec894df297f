import { choice, defineCommand } from '../command.ts';
import { origin } from '../report/origin.ts';
import type { Report } from '../report/report.ts';
import { defaultFolder, save } from '../report/save-report.ts';
import { summary } from '../report/terminal-summary.ts';
import { resuming } from '../targets/resuming.ts';
import { loadConfig } from '../../src/config/config.ts';
import { sluice } from '../targets/sluice.ts';
import { stock } from '../targets/stock/stock-target.ts';
import type { Target } from '../targets/target.ts';
import { loadOptions, readLoad, STANDARD_LOAD } from './load-options.ts';
import { interruption, measureEach } from './measure.ts';

const OTHERS: Readonly<Record<string, Target>> = { stock, resuming };

const DRIVERS = ['kafkajs', 'platformatic'];

export const command = defineCommand({
  summary: 'puts Sluice and, with --against, another server under the same load, and saves a report',
  needsServices: true,
  options: {
    ...loadOptions(STANDARD_LOAD),
    driver: {
      type: 'string',
      default: loadConfig({}).KAFKA_DRIVER,
      help: `Sluice's Kafka client: ${DRIVERS.join(' or ')}`,
    },
    against: { type: 'string', help: `a server that gets the same load after Sluice: ${names(OTHERS)}` },
    out: {
      type: 'string',
      help: 'folder for report.json, report.html and plots (loadtest/out/<time>-<commit>)',
    },
  },
  prepare({ values: { driver, against, out, ...values }, commandLine }) {
    const subject = withDriver(choice('driver', driver, DRIVERS));
    const load = readLoad(values);
    const other = against === undefined ? undefined : OTHERS[choice('against', against, Object.keys(OTHERS))];
    return async () => {
      const targets = [subject, ...(other ? [other] : [])];
      const runs = await measureEach(targets, load, interruption());
      const report: Report = { version: 1, ...(await origin(commandLine)), load, runs };
      console.log(summary(report, process.stdout.isTTY));
      await save(report, out ?? defaultFolder(report));
      if (runs.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
    };
  },
});

function names(targets: Readonly<Record<string, Target>>): string {
  return Object.keys(targets).join(', ');
}

function withDriver(driver: string): Target {
  return { ...sluice, environment: (wiring) => ({ ...sluice.environment(wiring), KAFKA_DRIVER: driver }) };
}
