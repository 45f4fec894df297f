/** `npm run bench:lazy`: reads of lazy objects beside a plain one. */
import assert from 'node:assert/strict';
import { lazy } from '../../src/lazy/lazy.ts';

const OPERATIONS = 50_000;
const ROUNDS = 15;

interface Values {
  readonly [key: string]: { readonly value: number };
}

interface Way {
  readonly name: string;
  make(start: number): Values;
}

const valueOf = (value: number): { value: number } => ({ value });

const WAYS: readonly Way[] = [
  {
    name: 'plain object',
    make: (start) => ({
      a: valueOf(start),
      b: valueOf(start + 1),
      c: valueOf(start + 2),
      d: valueOf(start + 3),
      e: valueOf(start + 4),
      f: valueOf(start + 5),
      g: valueOf(start + 6),
      h: valueOf(start + 7),
    }),
  },
  {
    name: 'Proxy.lazy',
    make: (start) =>
      Proxy.lazy({
        a: valueOf(start),
        b: valueOf(start + 1),
        c: valueOf(start + 2),
        d: valueOf(start + 3),
        e: valueOf(start + 4),
        f: valueOf(start + 5),
        g: valueOf(start + 6),
        h: valueOf(start + 7),
      }),
  },
  {
    name: 'lazy({ key: () => … })',
    make: (start) =>
      lazy({
        a: () => valueOf(start),
        b: () => valueOf(start + 1),
        c: () => valueOf(start + 2),
        d: () => valueOf(start + 3),
        e: () => valueOf(start + 4),
        f: () => valueOf(start + 5),
        g: () => valueOf(start + 6),
        h: () => valueOf(start + 7),
      }),
  },
];

/** What is timed. Each returns a number that depends on all that it has done, the same for all ways. */
const MEASURES: Readonly<Record<string, (make: Way['make']) => () => number>> = {
  'make, read nothing': (make) => () => {
    let sum = 0;
    for (let n = 0; n < OPERATIONS; n += 1) sum += typeof make(n) === 'object' ? 1 : 0;
    return sum;
  },
  'make, first read of one of 8': (make) => () => {
    let sum = 0;
    for (let n = 0; n < OPERATIONS; n += 1) sum += make(n)['d']?.value ?? 0;
    return sum;
  },
  'later read': (make) => {
    const object = make(1);
    return () => {
      let sum = 0;
      for (let n = 0; n < OPERATIONS; n += 1) sum += object['d']?.value ?? 0;
      return sum;
    };
  },
  'Object.keys, nothing built': (make) => {
    const object = make(1);
    return () => {
      let sum = 0;
      for (let n = 0; n < OPERATIONS; n += 1) sum += Object.keys(object).length;
      return sum;
    };
  },
  'make, spread (builds all 8)': (make) => () => {
    let sum = 0;
    for (let n = 0; n < OPERATIONS; n += 1) sum += { ...make(n) }['h']?.value ?? 0;
    return sum;
  },
  'later spread': (make) => {
    const object = make(1);
    return () => {
      let sum = 0;
      for (let n = 0; n < OPERATIONS; n += 1) sum += { ...object }['h']?.value ?? 0;
      return sum;
    };
  },
};

/** Rounds of all ways take turns, so that whatever else the machine does meets all of them. */
function nanoseconds(measure: (make: Way['make']) => () => number): number[] {
  const runs = WAYS.map(({ make }) => measure(make));
  const [expected, ...others] = runs.map((run) => run());
  for (const other of others) assert.equal(other, expected);
  const times = WAYS.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, run] of runs.entries()) {
      const begun = process.hrtime.bigint();
      const sum = run();
      times[index]?.push(Number(process.hrtime.bigint() - begun) / OPERATIONS);
      assert.equal(sum, expected);
    }
  }
  return times.map(median);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

const [plain, ...lazies] = WAYS.map(({ make }) => make(5));
for (const each of lazies) {
  assert.deepEqual(Object.keys(each), Object.keys(plain ?? {}));
  assert.deepEqual({ ...each }, plain);
  assert.equal(JSON.stringify(each), JSON.stringify(plain));
}

console.log(`ns per operation, median of ${ROUNDS} rounds of ${OPERATIONS}; objects of 8 keys\n`);
const table: Record<string, Record<string, string>> = {};
for (const [name, measure] of Object.entries(MEASURES)) {
  const times = nanoseconds(measure);
  table[name] = Object.fromEntries(WAYS.map((way, index) => [way.name, (times[index] ?? 0).toFixed(1)]));
}
console.table(table);
