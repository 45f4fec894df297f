/**
 * The largest of many, the largest first. Costs no more than sorting a few at a time, and holds twice of what is asked
 * for at most.
 */
export function largest<T>(items: Iterable<T>, count: number, sizeOf: (item: T) => number): T[] {
  const bySize = (one: T, other: T): number => sizeOf(other) - sizeOf(one);
  let kept: T[] = [];
  for (const item of items) {
    if (kept.push(item) < 2 * count) continue;
    kept = kept.toSorted(bySize).slice(0, count);
  }
  return kept.toSorted(bySize).slice(0, count);
}
