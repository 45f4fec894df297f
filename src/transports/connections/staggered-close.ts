import type { Clock } from '../../support/clock.ts';

interface Options<T> {
  /** The connections that are open, read before each step: some may have closed by themselves. */
  readonly open: () => readonly T[];
  readonly close: (one: T) => void;
  /** Time from the first step to the end of the last step's interval, ms. */
  readonly overMs: number;
  readonly clock: Clock;
  /** Ends it ahead of time; connections that are open then stay open. */
  readonly signal: AbortSignal;
}

/** Each step falls somewhere into an interval of this length. */
const INTERVAL_MS = 500;

/**
 * Closes all connections in many small steps, an equal share in each, so that clients which reconnect at once don't
 * reconnect together. Each step falls at random within its interval, since several pods may be draining.
 */
export async function closeStaggered<T>({ open, close, overMs, clock, signal }: Options<T>): Promise<void> {
  const steps = Math.max(1, Math.floor(overMs / INTERVAL_MS));
  const intervalMs = overMs / steps;
  let restMs = 0;
  for (let left = steps; left > 0; left -= 1) {
    if (open().length === 0) return;
    const offsetMs = clock.random() * intervalMs;
    if (restMs + offsetMs > 0) await clock.sleep(restMs + offsetMs, signal);
    if (signal.aborted) return;
    const remaining = open();
    for (const one of remaining.slice(0, Math.ceil(remaining.length / left))) close(one);
    restMs = intervalMs - offsetMs;
  }
}
