import { Top } from './top.ts';

const descending = (one: number, other: number): number => other - one;

/**
 * Returns the `count` largest items, the largest first. Sorts only a few items at a time, and holds at most twice
 * `count` of them.
 */
export function largest<T>(items: Iterable<T>, count: number, sizeOf: (item: T) => number): T[] {
  const top = new Top<T, number>(count, descending);
  for (const item of items) top.add(item, sizeOf(item));
  return top.items;
}
