import lodash from 'lodash';
import snakecaseKeys from 'snakecase-keys';
import { simulate } from '../../../examples/auction/simulator.ts';
import type { JsonValue } from '../../../src/events/event.ts';
import { SnakeCase } from '../../../src/events/snake-case.ts';
import type { Case, Variant } from '../bench.ts';

const EVENTS = 500;

/** Other names for keys that lodash converts differently (docs/reference/snake-case.md): all variants agree here. */
const AGREED: Readonly<Record<string, string>> = {
  line1: 'streetLine',
  line2: 'secondLine',
  livingAreaM2: 'livingArea',
};

/** Events as JSON, as they come from Kafka. */
const texts: readonly string[] = auction();

function auction(): string[] {
  let state = 1;
  // The generator of Park and Miller, which gives the same auction each time.
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const messages = simulate(random, () => 1_700_000_000_000);
  return Array.from({ length: EVENTS }, () =>
    JSON.stringify(messages.next().value.value).replace(
      /"(line1|line2|livingAreaM2)":/g,
      (_, key: string) => `"${AGREED[key]}":`,
    ),
  );
}

/** The conversion that is usual with lodash. */
function withLodash(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLodash);
  if (!lodash.isPlainObject(value)) return value;
  const renamed = lodash.mapKeys(value as object, (_, key) => lodash.snakeCase(key));
  return lodash.mapValues(renamed, withLodash);
}

/** @param transform may change its argument */
function variant(name: string, transform: (event: Record<string, JsonValue>) => unknown): Variant {
  const eventAt = (index: number): Record<string, JsonValue> =>
    JSON.parse(texts[index % EVENTS] ?? '') as Record<string, JsonValue>;
  return {
    name,
    // Compared as text, since the order of keys counts too.
    sample: () => texts.map((_, index) => JSON.stringify(transform(eventAt(index)))),
    ready: (operations) => {
      const events = Array.from({ length: operations }, (_, index) => eventAt(index));
      return () => {
        let objects = 0;
        for (const event of events) objects += typeof transform(event) === 'object' ? 1 : 0;
        return objects;
      };
    },
  };
}

/** Converts the keys of the bundled auction's events to snake_case; events are parsed before the clock starts. */
export const cases: readonly Case[] = [
  {
    name: 'keys of auction events',
    unit: 'event',
    open: () => {
      const snakeCase = new SnakeCase();
      return {
        variants: [
          variant('lodash: mapKeys, snakeCase, deep', withLodash),
          variant('snakecase-keys', (event) => snakecaseKeys(event, { deep: true })),
          variant('SnakeCase.transform', (event) => snakeCase.transform(event)),
        ],
      };
    },
  },
];
