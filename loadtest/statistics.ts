export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** How far the middle half of them reaches: what a few disturbed rounds do not change. */
export function quartileRange(values: readonly number[]): number {
  return quantile(values, 0.75) - quantile(values, 0.25);
}

/** Between two values in proportion. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  const part = at - Math.floor(at);
  return low * (1 - part) + high * part;
}
