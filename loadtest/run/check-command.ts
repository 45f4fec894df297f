import { defineCommand, wholeNumber } from '../command.ts';
import { BUDGETS, type Budget } from '../report/budgets.ts';
import { budgetRow } from '../report/comparison-tables.ts';
import { origin } from '../report/origin.ts';
import type { Load, Report } from '../report/report.ts';
import { tableText } from '../report/text-table.ts';
import { sluice } from '../targets/sluice.ts';
import { stock } from '../targets/stock/stock-target.ts';
import { STANDARD_LOAD } from './load-options.ts';
import { interruption, measureEach } from './measure.ts';
import { medians } from './medians.ts';
import { SMALL_BUDGETS } from './small-budgets.ts';

interface Check {
  readonly load: Load;
  readonly budgets: readonly Budget[];
}

const SHORT: Load = { ...STANDARD_LOAD, singles: 40, floodSeconds: 5 };

const FULL: readonly Check[] = [
  { load: SHORT, budgets: BUDGETS },
  { load: { ...SHORT, channels: SHORT.sockets, window: 8_000 }, budgets: BUDGETS },
];

const SMALL: readonly Check[] = [
  { load: { ...SHORT, sockets: 500, floodSeconds: 3 }, budgets: SMALL_BUDGETS },
];

export const command = defineCommand({
  summary: 'judges the budgets by the medians of short runs of Sluice and stock; fails unless all are met',
  needsServices: true,
  options: {
    small: {
      type: 'boolean',
      help: 'for continuous integration: 500 sockets, and limits that leave room for a busy machine',
    },
    rounds: { type: 'string', default: '3', help: 'short runs of each server, whose median counts' },
  },
  prepare({ values, commandLine }) {
    const rounds = wholeNumber('rounds', values.rounds, 1, 20);
    return async () => {
      const signal = interruption();
      for (const { load, budgets } of values.small ? SMALL : FULL) {
        const reports: Report[] = [];
        while (reports.length < rounds) {
          const runs = await measureEach([sluice, stock], load, signal);
          reports.push({ version: 1, ...(await origin(commandLine)), load, runs });
        }
        const judgements = medians(reports, budgets);
        const rows = judgements.map(budgetRow);
        console.log(tableText({ columns: ['budget', 'limit', 'median', ''], rows }));
        if (judgements.some(({ verdict }) => verdict !== 'met')) process.exitCode = 1;
      }
    };
  },
});
