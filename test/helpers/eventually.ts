import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 25;

/** Ends only waits for what would never come: a busy machine may take many times as long as a quiet one. */
const PATIENCE_MS = 120_000;

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
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (cause) {
      if (performance.now() > deadline) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Not so within ${withinMs} ms: ${reason}`, { cause });
      }
    }
    await delay(INTERVAL_MS);
  }
}
