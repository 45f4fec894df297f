import { setTimeout as wait } from 'node:timers/promises';

/** Time and randomness, passed in so that tests can control them. */
export interface Clock {
  /** ms since 1970 */
  now(): number;
  /** Resolves after that many ms, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 to 1 */
  random(): number;
}

/** Timers that do not keep the process alive, passed in so that tests can control them. */
export interface Timers {
  /** Calls back once, after that many ms. @returns a function that prevents the call */
  after(ms: number, callback: () => void): () => void;
}

export const systemTimers: Timers = {
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
  random: Math.random,
};
