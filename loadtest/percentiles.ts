import type { Percentiles } from './report/report.ts';

/** Of no observations: zeros. */
export function percentiles(observations: readonly number[]): Percentiles {
  const sorted = observations.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
