import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';

/** Ends only waits for what would never come: see `eventually`. */
const PATIENCE_MS = 60_000;

/** Lets the event loop of this process turn until it is so: for what comes about in it, by promises and by sockets. */
export async function turnsUntil(isSo: () => boolean): Promise<void> {
  const start = performance.now();
  while (!isSo()) {
    assert.ok(performance.now() - start < PATIENCE_MS, `expected ${String(isSo)} within ${PATIENCE_MS} ms`);
    await setImmediate();
  }
}
