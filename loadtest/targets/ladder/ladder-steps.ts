import { eager, lazyBackends, lazyLoaders, type MakeContext } from './step-contexts.ts';
import { oneWritePerTurn, sharedFrames, throughGraphqlWs, type Delivery } from './deliveries.ts';
import { cacheAndJit, graphqlJs, graphqlJsWithoutLocations, type MakeEngine } from './engines.ts';
import { eachForItself, groups, type MakeFanOut } from './fan-outs.ts';
import { arraysInPlace, byLodash, memoized, native, type ConvertKeys } from './key-conversions.ts';

/** The parts of a server of the ladder. */
export interface Parts {
  readonly makeContext: MakeContext;
  readonly convertKeys: ConvertKeys;
  readonly makeEngine: MakeEngine;
  readonly makeFanOut: MakeFanOut;
  readonly delivery: Delivery<unknown>;
}

export interface Step {
  readonly name: string;
  /** The difference from the step before, in a few words. */
  readonly changes: string;
  readonly parts: Parts;
}

interface Change {
  readonly name: string;
  readonly changes: string;
  readonly part: Partial<Parts>;
}

const FIRST: Step = {
  name: 'eager contexts',
  changes: '160 wrappers, 50 loaders, 70 primers and lodash for each subscriber and event',
  parts: {
    makeContext: eager,
    convertKeys: byLodash,
    makeEngine: graphqlJs,
    makeFanOut: eachForItself,
    delivery: throughGraphqlWs,
  },
};

const CHANGES: readonly Change[] = [
  {
    name: 'lazy back ends',
    changes: 'back ends are made when they are touched',
    part: { makeContext: lazyBackends },
  },
  { name: 'native keys', changes: 'keys by a regular expression, not lodash', part: { convertKeys: native } },
  { name: 'memoized keys', changes: 'each key is worked out once', part: { convertKeys: memoized } },
  {
    name: 'arrays in place',
    changes: 'arrays are changed, not copied',
    part: { convertKeys: arraysInPlace },
  },
  {
    name: 'no locations',
    changes: 'documents are parsed without locations',
    part: { makeEngine: graphqlJsWithoutLocations },
  },
  {
    name: 'lazy loaders',
    changes: 'loaders and primers by Proxy.lazy',
    part: { makeContext: lazyLoaders },
  },
  {
    name: 'parse cache, JIT',
    changes: 'documents are parsed once, and compiled',
    part: { makeEngine: cacheAndJit },
  },
  {
    name: 'one execution per group',
    changes: 'subscriptions with the same operation and variables share a result',
    part: { makeFanOut: groups },
  },
  {
    name: 'shared frames',
    changes: 'results are serialised once, and go to the socket without graphql-ws',
    part: { delivery: sharedFrames },
  },
  {
    name: 'one write per turn',
    changes: 'frames for a socket leave together',
    part: { delivery: oneWritePerTurn },
  },
];

/** The steps from first to last. Each differs from the one before in one part. */
export const STEPS: readonly Step[] = CHANGES.reduce<readonly Step[]>(
  (steps, { name, changes, part }) => [
    ...steps,
    { name, changes, parts: { ...(steps.at(-1) ?? FIRST).parts, ...part } },
  ],
  [FIRST],
);
