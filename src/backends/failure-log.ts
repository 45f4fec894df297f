import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { LogThrottle } from '../support/log-throttle.ts';
import type { BackendError, BackendErrorCode } from './error.ts';

const PERIOD_MS = 10_000;

/** Logs failed calls of one back end: for each error code at most one line in ten seconds, with the number left out. */
export class FailureLog {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #throttles = new Map<BackendErrorCode, LogThrottle>();

  /** @param now ms */
  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  add(error: BackendError): void {
    const { code, status } = error;
    const suppressed = this.#throttle(code).admit();
    if (suppressed === undefined) return;
    // The cause's message only: other properties of undici's errors may contain parts of a response.
    const reason = error.cause === undefined ? undefined : messageOf(error.cause);
    this.#log.warn({ code, status, reason, suppressed }, 'a call to a back end failed');
  }

  #throttle(code: BackendErrorCode): LogThrottle {
    let throttle = this.#throttles.get(code);
    if (throttle === undefined) {
      throttle = new LogThrottle({ lines: 1, periodMs: PERIOD_MS, now: this.#now });
      this.#throttles.set(code, throttle);
    }
    return throttle;
  }
}
