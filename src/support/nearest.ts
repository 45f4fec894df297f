import { closest, distance } from 'fastest-levenshtein';

/** The nearest name is a guess if at most this part of the written characters differs. */
const GUESSABLE = 1 / 3;

/** @returns the name that a misspelled one probably means; undefined if no name is near */
export function nearest(written: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const name = closest(written, names);
  return distance(written, name) <= written.length * GUESSABLE ? name : undefined;
}
