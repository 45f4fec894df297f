import type { Table } from './comparison-tables.ts';

/** Returns a table for a terminal. */
export function tableText(table: Table): string {
  return tableLines(table).join('\n');
}

/** The number of lines of a table before its rows. */
export const HEADER_LINES = 2;

/** Aligns the columns after the first one to the right, so that digits line up; text in a last column, to the left. */
export function tableLines({ columns, rows }: Table): string[] {
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
