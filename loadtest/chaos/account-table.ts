import type { Table } from '../report/comparison-tables.ts';
import type { ClientReport } from './client-account.ts';
import { FIELDS } from './subscriptions.ts';

const FIGURES: readonly (readonly [string, (report: ClientReport) => number])[] = [
  ['clients', () => 1],
  ['returns', ({ returns }) => returns],
  ['received', ({ received }) => received],
  ['lost', ({ lost }) => lost.told + lost.late + lost.untold],
  ['told', ({ lost }) => lost.told],
  ['told late', ({ lost }) => lost.late],
  ['not told', ({ lost }) => lost.untold],
  ['doubled', ({ doubled }) => doubled],
  ['re-ordered', ({ reordered }) => reordered],
  ['recovered: false', ({ unrecovered }) => unrecovered],
  ['gaps', ({ gaps }) => gaps],
  ['faults', ({ faults }) => faults.length],
];

/** The accounts of all clients, added up by what they subscribe to. */
export function accountTable(reports: readonly ClientReport[]): Table {
  const rows = FIELDS.map((field) => {
    const some = reports.filter((report) => report.field === field);
    const sums = FIGURES.map(([, of]) => some.reduce((sum, report) => sum + of(report), 0));
    return [field, ...sums.map(String)];
  });
  return { columns: ['field', ...FIGURES.map(([name]) => name)], rows };
}
