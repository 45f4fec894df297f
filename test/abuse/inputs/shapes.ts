import type { TestContext } from 'node:test';
import { range } from '../../helpers/numbers.ts';
import type { Pod } from './pod.ts';

/** How it is too much: in bytes, in parts, in number, in time, or for ever. */
export const SHAPES = ['long', 'wide', 'many', 'slow', 'endless'] as const;

export type Attack = (pod: Pod, t: TestContext) => Promise<void>;

/** Why an input can't have a shape. */
type Reason = string;

/** The attacks on one input. */
export type Attacks = Readonly<Record<(typeof SHAPES)[number], Attack | Reason>>;

/** Why records of Kafka and messages of Redis are neither slow nor endless. */
export const WHOLE = 'a client of Kafka or Redis hands it over whole, and both are within the trust boundary';

export const text = (bytes: number): string => 'x'.repeat(bytes);

export const repeated = <Piece>(piece: Piece, times: number): Piece[] => range(0, times).map(() => piece);

/** JSON of so many different keys. */
export const wideJson = (keys: number): string =>
  JSON.stringify(Object.fromEntries(range(0, keys).map((index) => [`key_${index}`, index])));
