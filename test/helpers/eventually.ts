import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asking takes both processes time, which a machine with many tests lacks: the longer it has been in vain, the less often,
 * at the price of a tenth more.
 */
const SHORTEST_MS = 10;
const LONGEST_MS = 250;
const SHARE = 0.1;

/** Ends only waits for what would never come: a busy machine may take many times as long as a quiet one. */
export const PATIENCE_MS = 120_000;

/**
 * Calls `check` until it no longer throws. Only for state outside of the process that sends no event when it changes,
 * such as metrics.
 *
 * @returns what `check` returned
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
