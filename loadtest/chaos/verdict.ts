import type { ClientReport } from './client-account.ts';
import { isKept } from './subscriptions.ts';

/**
 * The promise to clients of fields with history: each gets every event once and in order; or it may also miss
 * events, if it is told so before the next event.
 */
export type Promised = 'everything' | 'everything or told';

/** Returns the faults of one client's account, in words; empty: there are none. */
export function complaintsAbout(report: ClientReport, promised: Promised): string[] {
  const { lost, doubled, reordered, faults, field } = report;
  const wrong = (count: number, what: string): string[] => (count === 0 ? [] : [`${count} ${what}`]);
  const complaints = [...faults, ...wrong(lost.untold, 'lost and not told')];
  // A field without history promises to tell of missed events, if late: after the next events. Another pod does not
  // know which events the client has got from the pod before.
  if (!isKept(field)) return complaints;
  complaints.push(...wrong(lost.late, 'lost and told too late'));
  complaints.push(...wrong(doubled, 'doubled'), ...wrong(reordered, 're-ordered'));
  if (promised === 'everything') complaints.push(...wrong(lost.told, 'lost, if told'));
  return complaints;
}

/** One line for each client whose account is wrong: who, what, and between which numbers. */
export function describeFailures(reports: readonly ClientReport[], promised: Promised): string[] {
  return reports.flatMap((report) => {
    const complaints = complaintsAbout(report, promised);
    if (complaints.length === 0) return [];
    const holes = report.holes.map(
      ({ channel, from, to, knowledge }) => `${channel} ${from}–${to} ${knowledge}`,
    );
    const where = holes.length === 0 ? '' : ` (${holes.join(', ')})`;
    return [`client ${report.client}, ${report.field}: ${complaints.join('; ')}${where}`];
  });
}
