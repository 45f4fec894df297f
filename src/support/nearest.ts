import { closest, distance } from 'fastest-levenshtein';

/** The nearest name is a guess: it is one where so large a part of what was written, or less, is different. */
const GUESSABLE = 1 / 3;

/** @returns the one of the names that is probably meant by a misspelled one; undefined if none is near */
export function nearest(written: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const name = closest(written, names);
  return distance(written, name) <= written.length * GUESSABLE ? name : undefined;
}
