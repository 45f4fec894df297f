import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';

/** Ends only waits for results that never come, as in `eventually`. */
const PATIENCE_MS = 60_000;

/** Lets this process's event loop turn until the condition holds: for results of its own promises and sockets. */
export async function turnsUntil(isSo: () => boolean): Promise<void> {
  const start = performance.now();
  while (!isSo()) {
    assert.ok(performance.now() - start < PATIENCE_MS, `expected ${String(isSo)} within ${PATIENCE_MS} ms`);
    await setImmediate();
  }
}
