import type { Random } from '../helpers/random.ts';

const repeat = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** Short documents for the bundled graph that are expensive to parse, to validate, or to execute for each event. */
export const BOMBS: readonly ((random: Random) => string)[] = [
  // Nested fragments, each of which doubles the fields.
  (random) => {
    const levels = random.between(8, 16);
    const fragments = repeat(
      levels,
      (n) => `fragment F${n} on Bid { a${n}: amount { value } ${`...F${n + 1} `.repeat(2)} }`,
    );
    return `subscription { bid_placed(auction_id: "1") { ...F0 } } ${fragments} fragment F${levels} on Bid { bid_id }`;
  },
  // Many aliases.
  (random) =>
    `subscription { bid_placed(auction_id: "1") { ${repeat(random.between(100, 2_000), (n) => `a${n}: amount { formatted }`)} } }`,
  // Fragments whose fields the validation compares with each other.
  (random) => {
    const count = random.between(100, 300);
    return `subscription { bid_placed(auction_id: "1") { ${repeat(count, (n) => `...F${n}`)} } } ${repeat(count, (n) => `fragment F${n} on Bid { x: bid_id amount { value } }`)}`;
  },
  // The same field many times, with and without differences.
  (random) => `{ ${repeat(random.between(500, 5_000), () => '__typename')} }`,
  // Deep nesting.
  (random) => `{ ${'a { '.repeat(random.between(200, 4_000))}`,
  (random) => `query ($v: ${'['.repeat(random.between(200, 8_000))}Int`,
  (random) => {
    const levels = random.between(5, 60);
    return `{ __schema { types { ${'fields { type { '.repeat(levels)} name ${'} }'.repeat(levels)} } } }`;
  },
  // Many directives.
  (random) => `{ __typename ${repeat(random.between(500, 3_000), () => '@include(if: true)')} }`,
  // Names that are nearly right, for which the server looks up suggestions.
  (random) =>
    `subscription { bid_placed(auction_id: "1") { ${repeat(random.between(100, 900), (n) => `bid_ix${n}`)} } }`,
  // Many variables.
  (random) => {
    const count = random.between(200, 1_500);
    return `query (${repeat(count, (n) => `$v${n}: Int`)}) { __typename }`;
  },
  // A different document each time.
  (random) => `{ a${random.between(0, 1e9)}: __typename }`,
  // A long comment.
  (random) => `{ __typename } #${'x'.repeat(random.between(1_000, 60_000))}`,
];
