import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { LogThrottles } from '../support/log-throttles.ts';
import type { LoggedIds } from '../tracing/traceparent.ts';
import type { BackendError, BackendErrorCode } from './error.ts';

const PERIOD_MS = 10_000;

/** Logs failed calls of one back end: per error code one line in ten seconds, with the number of lines left out. */
export class FailureLog {
  readonly #log: Log;
  readonly #throttles: LogThrottles<BackendErrorCode>;

  /** @param now ms */
  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#throttles = new LogThrottles({ lines: 1, periodMs: PERIOD_MS, now });
  }

  /** @param span ids of the call's span, if it is sampled */
  add(error: BackendError, span?: LoggedIds): void {
    const { code, status } = error;
    const suppressed = this.#throttles.admit(code);
    if (suppressed === undefined) return;
    // Only the cause's message is logged: other properties of undici's errors may contain parts of a response.
    const reason = error.cause === undefined ? undefined : messageOf(error.cause);
    this.#log.warn({ code, status, reason, suppressed, ...span }, 'a call to a back end failed');
  }
}
