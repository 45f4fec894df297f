import { EXPLANATIONS } from './heap-explanations.ts';
import type { Summary } from './heap-summary.ts';

/** The growth of one name's objects, for each socket. */
export interface Growth {
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
  /** The explanation; empty: there is none yet. */
  readonly why: string;
}

/** Sorts names by growth, the largest first; names that have shrunk come last. */
export function growth(before: Summary, after: Summary, sockets: number): Growth[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .map((name) => ({
      name,
      count: ((after.get(name)?.count ?? 0) - (before.get(name)?.count ?? 0)) / sockets,
      bytes: ((after.get(name)?.bytes ?? 0) - (before.get(name)?.bytes ?? 0)) / sockets,
      why: EXPLANATIONS[name] ?? '',
    }))
    .filter(({ bytes, count }) => bytes !== 0 || count !== 0)
    .toSorted((one, other) => other.bytes - one.bytes);
}
