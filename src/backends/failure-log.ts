import type { Log } from '../log.ts';
import { messageOf } from '../errors.ts';
import type { BackendError, BackendErrorCode } from './error.ts';

const INTERVAL_MS = 10_000;

/** Of each kind of failure of one back end, a line every ten seconds at most, with how many there were in between. */
export class FailureLog {
  readonly #log: Log;
  readonly #now: () => number;
  /** At most one for each code. */
  readonly #kinds = new Map<BackendErrorCode, { since: number; unsaid: number }>();

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  add(error: BackendError): void {
    const { code, status } = error;
    const now = this.#now();
    const kind = this.#kinds.get(code);
    if (kind !== undefined && now - kind.since < INTERVAL_MS) {
      kind.unsaid += 1;
      return;
    }
    this.#kinds.set(code, { since: now, unsaid: 0 });
    // The cause's message only: what undici's errors carry besides may hold parts of an answer.
    const reason = error.cause === undefined ? undefined : messageOf(error.cause);
    this.#log.warn({ code, status, reason, unsaid: kind?.unsaid ?? 0 }, 'a call to a back end failed');
  }
}
