import { LogThrottle, type LogBound } from './log-throttle.ts';

/** Limits how many lines each key may log. The caller limits the number of keys. */
export class LogThrottles<Key> {
  readonly #bound: LogBound;
  readonly #throttles = new Map<Key, LogThrottle>();

  constructor(bound: LogBound) {
    this.#bound = bound;
  }

  /** @returns the same as `LogThrottle.admit` */
  admit(key: Key): number | undefined {
    let throttle = this.#throttles.get(key);
    if (throttle === undefined) {
      throttle = new LogThrottle(this.#bound);
      this.#throttles.set(key, throttle);
    }
    return throttle.admit();
  }
}
