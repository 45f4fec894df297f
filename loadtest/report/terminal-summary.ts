import { styleText } from 'node:util';
import { budgetTable, figureTable } from './comparison-tables.ts';
import { details, machine, title } from './description.ts';
import type { Report } from './report.ts';
import { HEADER_LINES, tableLines } from './text-table.ts';

type Style = Parameters<typeof styleText>[0];

/** Returns the text at the end of a load test. @param colours whether the terminal has colours */
export function summary(report: Report, colours: boolean): string {
  // The caller has checked that the stream takes colours.
  const paint = (style: Style, text: string): string =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const budgets = budgetTable(report);
  const faults = report.runs.flatMap(({ target, faults: found }) =>
    found.map((fault) => paint('red', `✗ ${target}: ${fault}`)),
  );
  return [
    paint('bold', title(report.load)),
    details(report.load),
    machine(report.machine),
    '',
    ...tableLines(figureTable(report)),
    '',
    ...tableLines(budgets).map((line, index) => paint(styleOf(budgets.rows[index - HEADER_LINES]), line)),
    ...(faults.length > 0 ? ['', ...faults] : []),
  ].join('\n');
}

const STYLES: Readonly<Record<string, Style>> = { '✓': 'green', '✗': 'red', '–': 'dim' };

/** Returns the style of a budget by its verdict. */
function styleOf(row: readonly string[] | undefined): Style {
  return STYLES[row?.at(-1)?.charAt(0) ?? ''] ?? 'reset';
}
