import { BUS_TIMING } from '../../../src/bus/redis/timing.ts';

/** The prefix of all keys and channels in Redis. */
export const PREFIX = 'sim:';

/** The time between two looks whether a subscription has begun. */
export const LOOK_AGAIN_MS = 20;

/** A client notices within this time that the machine of its connection is gone. */
export const KEEPALIVE_MS = 20_000;

/** Short, so that a run does not last long. */
export const LINGER_MS = 2_000;

/** The source's own timing, but with fewer empty fetches, and with new partitions found sooner. */
export const TIMING = {
  heartbeatMs: 1_500,
  rebalanceTimeoutMs: 30_000,
  fetchWaitMs: 3_000,
  metadataMaxAgeMs: 5_000,
};

/** The bus's own timing, but a pod counts as deaf within the time of a fault. */
export const OF_BUS = { ...BUS_TIMING, deafMs: 5_000 };

export const NO_BUDGET = {
  spent: 0,
  writing: false,
  spend: () => undefined,
  renew: () => undefined,
  timed: () => undefined,
  traced: () => undefined,
};
