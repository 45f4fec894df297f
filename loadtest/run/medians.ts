import { median } from '../statistics.ts';
import { judge, verdictOn, type Budget, type Judgement } from '../report/budgets.ts';
import type { Report } from '../report/report.ts';

/**
 * Judges the median over the rounds, once for each budget that the load is fit for. A budget that no round could
 * measure is among them, as not measured.
 */
export function medians(reports: readonly Report[], budgets: readonly Budget[]): Judgement[] {
  const rounds = reports.map((report) => judge(report, budgets));
  return budgets.flatMap((budget, index) => {
    const judged = rounds.flatMap((round) => round[index] ?? []);
    const [first] = judged;
    if (first === undefined || reports.some(({ load }) => budget.unfit(load) !== undefined)) return [];
    const value = overall(
      budget,
      judged.flatMap((one) => one.value ?? []),
    );
    if (value === undefined) return [first];
    return [verdictOn(budget, value, first.limit)];
  });
}

/** Speed and memory vary with the other load of the machine; one lost or wrong delivery is never noise. */
function overall({ worst }: Budget, values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return worst === true ? Math.max(...values) : median(values);
}
