/** @returns the whole numbers from `first` to `last`, both included */
export const upTo = (last: number, first = 1): number[] => range(first, last + 1);

/** @returns the whole numbers from `from` to below `to` */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
