import { judge, NO_FAULTS, type Budget, type Judgement } from '../report/budgets.ts';
import type { Report } from '../report/report.ts';

/**
 * One judgement for each budget that the load says something about: of the median over the rounds. One that no round
 * could measure is among them, as not measured.
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
    const met = budget.direction === 'at most' ? value <= first.limit : value >= first.limit;
    return [{ budget, value, limit: first.limit, verdict: met ? 'met' : 'missed' }];
  });
}

/** Speed and memory waver with what else the machine does; what was lost or wrong in one round is never noise. */
function overall(budget: Budget, values: readonly number[]): number | undefined {
  return budget === NO_FAULTS && values.length > 0 ? Math.max(...values) : median(values);
}

/** The worse one of the two in the middle would judge by luck, so of an even number it is their mean. */
function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}
