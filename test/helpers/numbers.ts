import assert from 'node:assert/strict';

/** @returns the whole numbers from `first` to `last`, both included */
export const upTo = (last: number, first = 1): number[] => range(first, last + 1);

/** @returns the whole numbers from `from` to below `to` */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

export const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((one, other) => one - other);

/** @returns a quantile of the numbers; 0 if there are none */
export const quantile = (numbers: readonly number[], share: number): number =>
  sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? 0;

/** Asserts that no number is smaller than the one before it. */
export function expectInOrder(numbers: readonly number[], told: string): void {
  assert.deepEqual(numbers, sorted(numbers), `${told}: in order`);
}
