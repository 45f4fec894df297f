import type { Percentiles } from './report/report.ts';

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The range of the middle half of the values, which a few disturbed rounds do not change. */
export function quartileRange(values: readonly number[]): number {
  return quantile(values, 0.75) - quantile(values, 0.25);
}

/** Interpolates between two values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  const part = at - Math.floor(at);
  return low * (1 - part) + high * part;
}

/** Returns zeros if there are no observations. */
export function percentiles(observations: readonly number[]): Percentiles {
  const sorted = observations.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

/** The slope of the straight line that fits the points best (least squares). */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(points.map(({ x }) => x));
  const meanY = mean(points.map(({ y }) => y));
  const together = points.map(({ x, y }) => (x - meanX) * (y - meanY));
  const alone = points.map(({ x }) => (x - meanX) ** 2);
  return mean(together) / mean(alone);
}
