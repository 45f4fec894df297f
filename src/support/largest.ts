import { Top } from './top.ts';

const descending = (one: number, other: number): number => other - one;

/**
 * The largest of many, the largest first. Costs no more than sorting a few at a time, and holds twice of what is asked
 * for at most.
 */
export function largest<T>(items: Iterable<T>, count: number, sizeOf: (item: T) => number): T[] {
  const top = new Top<T, number>(count, descending);
  for (const item of items) top.add(item, sizeOf(item));
  return top.items;
}
