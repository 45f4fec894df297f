import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';

interface Options {
  /** Rejects, or resolves with the reason why the run ended; resolves with undefined if the run could not begin yet. */
  readonly run: () => Promise<unknown>;
  readonly onCrash: (error: unknown, waitMs: number) => void;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

const WAIT = { firstMs: 500, maxMs: 15_000 };

/** A run as long as this counts as a success: the next wait is a short one again. */
const SUCCESS_MS = 60_000;

/** Calls `run` again and again until the signal aborts, with a longer wait each time. */
export async function supervise({ run, onCrash, clock, stopping }: Options): Promise<void> {
  const backoff = new Backoff({ ...WAIT, random: clock.random });
  while (!stopping.aborted) {
    const startedAt = clock.now();
    const error = await run().catch((thrown: unknown) => thrown);
    if (stopping.aborted) return;
    if (clock.now() - startedAt >= SUCCESS_MS) backoff.reset();
    const wait = backoff.next();
    if (error !== undefined) onCrash(error, wait);
    await clock.sleep(wait, stopping);
  }
}
