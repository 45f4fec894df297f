import type { Table } from '../comparison-tables.ts';
import { markdown } from '../escape.ts';
import { markdownTable, originOf } from '../markdown.ts';
import type { Origin } from '../origin.ts';
import { amount } from '../units.ts';

/** Results in tables: objects on the heap, leftovers after clients have left, costs of parts. */
export interface Tables extends Origin {
  readonly kind: 'heap' | 'cycles' | 'storm' | 'chaos' | 'growth' | 'shapes' | 'drivers' | 'micro';
  readonly tables: readonly NamedTable[];
}

export interface NamedTable {
  readonly title: string;
  readonly columns: Table['columns'];
  /** null: not measured. */
  readonly rows: readonly (readonly (string | number | null)[])[];
}

export function tablesSection(results: Tables): string {
  const parts = results.tables.map(({ title, columns, rows }) => {
    const cells = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : amount(cell))));
    return `### ${markdown(title)}\n\n${markdownTable({ columns, rows: cells })}`;
  });
  return [...parts, originOf(results)].join('\n\n');
}
