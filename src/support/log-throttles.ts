import { LogThrottle, type LogBound } from './log-throttle.ts';

/** Bounds how many lines each of several things may log. The caller bounds how many things there are. */
export class LogThrottles<Key> {
  readonly #bound: LogBound;
  readonly #throttles = new Map<Key, LogThrottle>();

  constructor(bound: LogBound) {
    this.#bound = bound;
  }

  /** @returns see `LogThrottle.admit` */
  admit(key: Key): number | undefined {
    let throttle = this.#throttles.get(key);
    if (throttle === undefined) {
      throttle = new LogThrottle(this.#bound);
      this.#throttles.set(key, throttle);
    }
    return throttle.admit();
  }
}
