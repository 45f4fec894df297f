import type { Clock } from '../../../src/support/clock.ts';

/** A clock that stands still: who sleeps does so until the test ends it, or the signal aborts. */
export function stillClock() {
  const sleeps: { readonly ms: number; readonly end: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    random: () => 0,
    sleep: (ms, signal) =>
      new Promise<void>((end) => {
        if (signal.aborted) return end();
        sleeps.push({ ms, end });
        signal.addEventListener('abort', () => end());
      }),
  };
  const wakeAll = (): void => {
    for (const { end } of sleeps.splice(0)) end();
  };
  return { clock, sleeps, wakeAll };
}
