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
  sleep,
  random: Math.random,
};

/** Not that of `node:timers/promises`, which makes an error, with its stack, for each sleep that is cut short: most are. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
