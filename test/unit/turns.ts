import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';

/** More than any work takes that a test waits for. */
const MOST_TURNS = 10_000;

/** For timers of `node:timers/promises`, which are not held. */
const LEAST_MS = 2_000;

/** From now on timers of this process wait for {@link inTurns}; those of an earlier call never come. */
export function holdTimers(t: TestContext): void {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ['setTimeout'] });
}

/** Holds the time of deadlines, which go by timers and a clock. @returns lets time pass */
export function holdTime(t: TestContext): (ms: number) => void {
  let now = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => now);
  return (ms) => {
    now += ms;
    t.mock.timers.tick(ms);
  };
}

/**
 * Calls `check` until it no longer throws, after each turn of the event loop, which is a millisecond for timers that are
 * held: for work of this process alone, without sockets or files. A busy machine changes nothing.
 *
 * @returns what `check` returned
 */
export async function inTurns<T>(t: TestContext, check: () => T | Promise<T>): Promise<T> {
  const start = performance.now();
  for (let turn = 1; ; turn += 1) {
    try {
      return await check();
    } catch (cause) {
      if (turn >= MOST_TURNS && performance.now() - start > LEAST_MS) {
        throw new Error(`Not so within ${turn} turns: ${(cause as Error).message}`, { cause });
      }
    }
    t.mock.timers.tick(1);
    await setImmediate();
  }
}
