import type { Clock } from '../../../src/support/clock.ts';
import type { Random } from '../../helpers/random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A pod's clock: virtual time, and randomness from the seed. */
export function simulatedClock(time: VirtualTime, random: Random): Clock {
  return {
    now: () => Math.floor(time.now),
    random: () => random.next(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve();
          return;
        }
        const { owner } = time;
        const timer = time.after(Math.max(1, ms), owner, () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        });
        const onAbort = (): void => {
          time.cancel(timer);
          resolve();
        };
        signal.addEventListener('abort', onAbort, { once: true });
      }),
  };
}
