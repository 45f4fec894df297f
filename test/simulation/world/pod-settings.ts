import { BUS_TIMING } from '../../../src/bus/redis/timing.ts';

/** The prefix of all keys and channels in Redis. */
export const PREFIX = 'sim:';

/** Between two looks whether a subscriber has begun. */
export const LOOK_AGAIN_MS = 20;

/** A client finds out within this time that the machine is gone which it is connected to. */
export const KEEPALIVE_MS = 20_000;

/** Few enough that a run does not last long. */
export const LINGER_MS = 2_000;

/** The source's own timing, but for fewer fetches that bring nothing, and new partitions that are found sooner. */
export const TIMING = {
  heartbeatMs: 1_500,
  rebalanceTimeoutMs: 30_000,
  fetchWaitMs: 3_000,
  metadataMaxAgeMs: 5_000,
};

/** The bus's own timing, but that a pod is deaf within what a fault lasts. */
export const OF_BUS = { ...BUS_TIMING, deafMs: 5_000 };

export const NO_BUDGET = {
  spent: 0,
  writing: false,
  spend: () => undefined,
  renew: () => undefined,
  timed: () => undefined,
  traced: () => undefined,
};
