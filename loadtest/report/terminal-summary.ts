import { styleText } from 'node:util';
import { budgetTable, figureTable, type Table } from './comparison-tables.ts';
import { details, machine, title } from './description.ts';
import type { Report } from './report.ts';

type Style = Parameters<typeof styleText>[0];

/** What the load test says at its end. Colours are for terminals that have them. */
export function summary(report: Report, colours: boolean): string {
  // The caller has looked at the stream.
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
    ...lines(figureTable(report)),
    '',
    ...lines(budgets).map((line, index) => paint(styleOf(budgets.rows[index - HEADER_LINES]), line)),
    ...(faults.length > 0 ? ['', ...faults] : []),
  ].join('\n');
}

const HEADER_LINES = 2;

const STYLES: Readonly<Record<string, Style>> = { '✓': 'green', '✗': 'red', '–': 'dim' };

/** Of a budget, by its verdict. */
function styleOf(row: readonly string[] | undefined): Style {
  return STYLES[row?.at(-1)?.charAt(0) ?? ''] ?? 'reset';
}

/** A table as text. */
export function tableText(table: Table): string {
  return lines(table).join('\n');
}

/** All but the first column to the right, where numbers end one below the other; text of a last one to the left. */
function lines({ columns, rows }: Table): string[] {
  const all = [columns, ...rows];
  const widths = columns.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const isText = (column: number): boolean => column === 0 || columns[column] === '';
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(columns), widths.map((width) => '─'.repeat(width)).join('──'), ...rows.map(line)];
}
