import type { Table } from './comparison-tables.ts';
import { machine, versions } from './description.ts';
import { code, markdown } from './escape.ts';
import type { Origin } from './origin.ts';

export function markdownTable({ columns, rows }: Table, align: readonly ('left' | 'right')[] = []): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(markdown).join(' | ')} |`;
  const rule = columns.map((_, column) => (alignment(column, align) === 'left' ? '---' : '--:'));
  return [line(columns), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Aligns names to the left, numbers to the right. */
const alignment = (column: number, align: readonly ('left' | 'right')[]): 'left' | 'right' =>
  align[column] ?? (column === 0 ? 'left' : 'right');

/** Describes how to measure the same again. */
export function originOf(origin: Origin): string {
  return [
    `- Command: ${code(origin.commandLine)}`,
    `- Commit: ${code(origin.commit)}, ${markdown(origin.created)}`,
    `- Machine: ${markdown(machine(origin.machine))}`,
    `- Versions: ${markdown(versions(origin))}`,
  ].join('\n');
}
