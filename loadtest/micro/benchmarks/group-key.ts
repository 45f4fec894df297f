import { variablesKey } from '../../../src/hub/group-key.ts';
import type { Case, Variant } from '../bench.ts';

type Variables = Readonly<Record<string, unknown>>;

/** The number of different variables, most of which a hub has to tell apart; a gateway sees the same ones often. */
const DIFFERENT = 100;

const numbers = Array.from({ length: DIFFERENT }, (_, index) => index);

const SETS: Readonly<Record<string, readonly Variables[]>> = {
  'no variables': numbers.map(() => ({})),
  'two variables': numbers.map((n) => ({ auction_id: `auction-${n % 50}`, min_amount: 1_000 * n })),
  'deep variables': numbers.map((n) => ({
    first: 20,
    where: {
      area: { center: { latitude: 52.37 + n, longitude: 4.9 }, radius_km: 25 },
      price: { gte: 200_000, lte: 900_000 },
      property_type: ['HOUSE', 'LOFT', 'APARTMENT'],
    },
  })),
  'deep variables, keys not in order': numbers.map((n) => ({
    where: {
      property_type: ['HOUSE', 'LOFT', 'APARTMENT'],
      price: { lte: 900_000, gte: 200_000 },
      area: { radius_km: 25, center: { longitude: 4.9, latitude: 52.37 + n } },
    },
    first: 20,
  })),
};

function variant(name: string, set: readonly Variables[], keyOf: (variables: Variables) => string): Variant {
  // The hub uses a key to look up its group.
  const groups = new Map(set.map((variables) => [keyOf(variables), 1]));
  return {
    name,
    /** For each set of variables, the first one with the same key. */
    sample: () => set.map((variables) => set.findIndex((other) => keyOf(other) === keyOf(variables))),
    ready: (operations) => () => {
      let found = 0;
      for (let n = 0; n < operations; n += 1) {
        found += groups.get(keyOf(set[n % DIFFERENT] as Variables)) ?? 0;
      }
      return found;
    },
  };
}

/**
 * Makes a group's key and looks it up, for variables whose keys always come in the same order. JSON.stringify needs
 * that order, and takes Infinity for null: it is only the lower bound, no alternative.
 */
export const cases: readonly Case[] = Object.entries(SETS).map(([name, set]) => ({
  name,
  unit: 'key',
  open: () => {
    const names = Object.keys(set[0] ?? {});
    return {
      variants: [
        variant('JSON.stringify', set, (variables) => JSON.stringify(variables)),
        variant('variablesKey', set, (variables) => variablesKey(names, variables)),
      ],
    };
  },
}));
