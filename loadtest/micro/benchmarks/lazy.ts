import { lazy } from '../../../src/lazy/lazy.ts';
import type { Case, Variant } from '../bench.ts';

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

/** The operations on the objects. */
const MEASURES: Readonly<Record<string, (make: Way['make']) => Variant['ready']>> = {
  'make, read nothing': (make) => (operations) => () => {
    let sum = 0;
    for (let n = 0; n < operations; n += 1) sum += typeof make(n) === 'object' ? 1 : 0;
    return sum;
  },
  'make, first read of one of 8': (make) => (operations) => () => {
    let sum = 0;
    for (let n = 0; n < operations; n += 1) sum += (make(n)['d']?.value ?? 0) - n;
    return sum;
  },
  'later read': (make) => {
    const object = make(1);
    return (operations) => () => {
      let sum = 0;
      for (let n = 0; n < operations; n += 1) sum += object['d']?.value ?? 0;
      return sum;
    };
  },
  'Object.keys, nothing built': (make) => {
    const object = make(1);
    return (operations) => () => {
      let sum = 0;
      for (let n = 0; n < operations; n += 1) sum += Object.keys(object).length;
      return sum;
    };
  },
  'make, spread (builds all 8)': (make) => (operations) => () => {
    let sum = 0;
    for (let n = 0; n < operations; n += 1) sum += ({ ...make(n) }['h']?.value ?? 0) - n;
    return sum;
  },
  'later spread': (make) => {
    const object = make(1);
    return (operations) => () => {
      let sum = 0;
      for (let n = 0; n < operations; n += 1) sum += { ...object }['h']?.value ?? 0;
      return sum;
    };
  },
};

/** Compares lazy objects of 8 keys with a plain one. */
export const cases: readonly Case[] = Object.entries(MEASURES).map(([name, readyFor]) => ({
  name,
  unit: 'object',
  open: () => ({
    variants: WAYS.map((way) => ({
      name: way.name,
      sample: () => {
        const object = way.make(5);
        return { keys: Object.keys(object), spread: { ...object }, json: JSON.stringify(object) };
      },
      ready: readyFor(way.make),
    })),
  }),
}));
