import type { Clock } from '../../support/clock.ts';

interface Options<T> {
  /** Asked for at each wave: some may have left by themselves. */
  readonly open: () => readonly T[];
  readonly close: (one: T) => void;
  /** From the first wave to the end of the time that the last one falls into. */
  readonly overMs: number;
  readonly clock: Clock;
  /** Ends the waves ahead of time; who is open then stays so. */
  readonly signal: AbortSignal;
}

/** Each wave falls somewhere into its own stretch of this length. */
const STRETCH_MS = 500;

/**
 * Closes all of them, an equal share in each of many small waves, so that those who come back at once don't come
 * together. Waves lie at random within their stretches, since several pods may be doing the same.
 */
export async function closeInWaves<T>({ open, close, overMs, clock, signal }: Options<T>): Promise<void> {
  const waves = Math.max(1, Math.floor(overMs / STRETCH_MS));
  const stretch = overMs / waves;
  let rest = 0;
  for (let left = waves; left > 0; left -= 1) {
    if (open().length === 0) return;
    const offset = clock.random() * stretch;
    if (rest + offset > 0) await clock.sleep(rest + offset, signal);
    if (signal.aborted) return;
    const remaining = open();
    for (const one of remaining.slice(0, Math.ceil(remaining.length / left))) close(one);
    rest = stretch - offset;
  }
}
