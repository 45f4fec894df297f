import assert from 'node:assert/strict';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import { lazy } from '../../../src/lazy/lazy.ts';
import { ReadSet } from '../../../src/lazy/reads.ts';
import type { Case, Variant } from '../bench.ts';
import { BACKENDS, company, LOADERS, PRIMERS } from '../../graphs/company/company.ts';
import { contextsOver } from '../gateway-contexts.ts';
import type { HeapCase } from '../heap-case.ts';
import { eager as eagerParts } from '../../targets/ladder/step-contexts.ts';

type Contexts = ReturnType<typeof contextsOver>['contexts'];

const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

const viewer = Object.freeze({ id: 1, role: 'bidder' });
const event = Object.freeze({ listing_id: 1 });

const COMPANY = `${BACKENDS} back ends × 5 methods, ${LOADERS} loaders, ${PRIMERS} primers`;

/** Makes an event's scope with each context, though a gateway makes it once for all viewers. */
function lazyContext(contexts: Contexts): GraphContext {
  return contexts.scopeOf(event).execution(viewer, new ReadSet()).context;
}

/** Returns the parts of a context that a resolver can use. */
function offered({ viewer: { ['role']: role }, backends, loaders, primers }: GraphContext): object {
  const methods = numbers(BACKENDS).map((index) =>
    (['get', 'delete', 'post', 'put', 'patch'] as const).map(
      (method) => typeof backends[`backend${index}`]?.[method],
    ),
  );
  return { role, methods, loaders: Object.keys(loaders), primers: Object.keys(primers) };
}

/** Makes a context as the first step of the ladder does. */
const eager = (): GraphContext =>
  ({ viewer, viewerLoaders: {}, now: Date.now(), ...eagerParts() }) as unknown as GraphContext;

/** The ways in which a resolver uses a context. */
const TOUCHES: Readonly<Record<string, (context: GraphContext) => unknown>> = {
  untouched: () => true,
  'viewer.role read': (context) => context.viewer['role'],
  '1 back end and 1 loader read': (context) => context.backends['backend7'] && context.loaders['loader07'],
};

function timed(name: string, make: () => GraphContext, touch: (context: GraphContext) => unknown): Variant {
  return {
    name,
    sample: () => offered(make()),
    ready: (operations) => () => {
      let found = 0;
      for (let n = 0; n < operations; n += 1) found += touch(make()) === undefined ? 0 : 1;
      return found;
    },
  };
}

/** Compares making a lazy context with making an eager one. */
export const cases: readonly Case[] = Object.entries(TOUCHES).map(([how, touch]) => ({
  name: `${COMPANY}; ${how}`,
  unit: 'context',
  open: () => {
    const { contexts, close } = contextsOver(BACKENDS, company);
    return {
      variants: [timed('eager', eager, touch), timed('lazy', () => lazyContext(contexts), touch)],
      close,
    };
  },
}));

const COUNTS: Readonly<Record<string, number>> = { untouched: 10_000, 'viewer.role read': 5_000 };

/** The size of a context on the heap. */
export const heapCases: readonly HeapCase[] = [
  {
    name: COMPANY,
    unit: 'context',
    open: () => {
      const { contexts, close } = contextsOver(BACKENDS, company);
      const lazies = Object.entries(TOUCHES).map(([how, touch]) => ({
        name: `lazy, ${how}`,
        count: COUNTS[how] ?? 1_000,
        make: () => {
          const context = lazyContext(contexts);
          assert.ok(touch(context));
          return context;
        },
        sample: () => offered(lazyContext(contexts)),
      }));
      const first = { name: 'eager', count: 250, make: eager, sample: () => offered(eager()) };
      return { variants: [first, ...lazies], close };
    },
  },
  {
    name: 'lazy, untouched, of graphs of different sizes',
    unit: 'context',
    open: () => {
      const sized = [0, 50, 500].map((size) => {
        const loaders = () => lazy(Object.fromEntries(numbers(size).map((index) => [index, () => index])));
        return { size, ...contextsOver(size, { loaders }) };
      });
      return {
        variants: sized.map(({ size, contexts }) => ({
          name: `${size} back ends, ${size} loaders`,
          count: 10_000,
          make: () => lazyContext(contexts),
          // The contexts differ in size, so the sample compares only a part that is the same.
          sample: () => lazyContext(contexts).viewer['role'],
        })),
        close: async () => {
          for (const { close } of sized) await close();
        },
      };
    },
  },
];
