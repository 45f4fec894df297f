import { EventEmitter } from 'node:events';
import type { Clock } from '../../../src/support/clock.ts';

/** A clock that stands until it is told: short sleeps pass at once and are noted, long ones wait for `advance`. */
export class FakeClock implements Clock {
  /** Sleeps of at least this many ms wait for `advance`. */
  patience = 5_000;
  chance = 1;
  readonly waits: number[] = [];
  readonly events = new EventEmitter();
  readonly #sleepers = new Set<{ until: number; wake: () => void }>();
  #time = 1_000_000;

  now(): number {
    return this.#time;
  }

  random(): number {
    return this.chance;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms < this.patience) {
      this.waits.push(ms);
      this.#time += ms;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const sleeper = {
        until: this.#time + ms,
        wake: (): void => {
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', sleeper.wake, { once: true });
      this.events.emit('sleep', ms);
    });
  }

  advance(ms: number): void {
    this.#time += ms;
    for (const sleeper of this.#sleepers) if (sleeper.until <= this.#time) sleeper.wake();
  }
}
