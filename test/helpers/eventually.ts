import { setTimeout as delay } from 'node:timers/promises';

/**
 * Checks cost time of both processes, which a machine with many tests lacks: they become rarer the longer they fail, so
 * that a wait takes a tenth longer.
 */
const SHORTEST_MS = 10;
const LONGEST_MS = 250;
const SHARE = 0.1;

/** Ends only waits for results that never come: a busy machine may take many times as long as a quiet one. */
export const PATIENCE_MS = 120_000;

/**
 * Calls `check` until it no longer throws. Only for state outside of the process that sends no event when it changes,
 * for instance metrics.
 *
 * @returns the result of `check`
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = PATIENCE_MS } = {},
): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (cause) {
      if (performance.now() - start > withinMs) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Not so within ${withinMs} ms: ${reason}`, { cause });
      }
    }
    const soFar = performance.now() - start;
    await delay(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, SHARE * soFar)));
  }
}
