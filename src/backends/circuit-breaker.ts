/** Which period of the breaker a call belongs to. What calls of an earlier period come to no longer counts. */
export type Pass = number;

export type BreakerState = 'closed' | 'open' | 'half-open';

interface Options {
  /** This many failures without a success between them open it. */
  readonly failures: number;
  /** ms until the first trial; doubles with each trial that fails. */
  readonly openMs: number;
  readonly now: () => number;
  readonly onChange: (state: BreakerState) => void;
}

const MAX_OPEN_MS = 30_000;

/**
 * Stops asking a back end that does not answer.
 *
 *   closed ──failures in a row──► open ──time is over──► half-open: one call is let through
 *     ▲                            ▲                        │  │
 *     └────────── it succeeds ─────┼────────────────────────┘  │
 *                                  └──── it fails: twice as long
 *
 * Failures in a row, not a share of failures: one path that always fails must not take the others down with it.
 *
 * Own code, since cockatiel and opossum take a trial that its caller aborted for a success, let callers wait without bound
 * behind a trial (cockatiel) or keep a timer running (opossum), and read the clock themselves.
 */
export class CircuitBreaker {
  readonly #options: Options;
  #state: BreakerState = 'closed';
  #pass: Pass = 0;
  #failures = 0;
  #openMs: number;
  #openUntil = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#openMs = options.openMs;
  }

  /** Whether enter would let nobody through now. */
  get refuses(): boolean {
    if (this.#state === 'open') return this.#options.now() < this.#openUntil;
    return this.#state === 'half-open';
  }

  /** @returns undefined if nobody may call now; else one of succeed, fail and withdraw must follow */
  enter(): Pass | undefined {
    if (this.refuses) return undefined;
    if (this.#state === 'open') this.#change('half-open');
    return this.#pass;
  }

  succeed(pass: Pass): void {
    if (pass !== this.#pass) return;
    this.#failures = 0;
    if (this.#state === 'closed') return;
    this.#openMs = this.#options.openMs;
    this.#change('closed');
  }

  fail(pass: Pass): void {
    if (pass !== this.#pass) return;
    if (this.#state === 'half-open') {
      this.#openMs = Math.min(this.#openMs * 2, Math.max(MAX_OPEN_MS, this.#options.openMs));
    } else if (++this.#failures < this.#options.failures) {
      return;
    }
    this.#openUntil = this.#options.now() + this.#openMs;
    this.#change('open');
  }

  /** The call came to nothing that says anything about the back end; the next caller makes the trial instead. */
  withdraw(pass: Pass): void {
    if (pass !== this.#pass || this.#state !== 'half-open') return;
    this.#state = 'open';
    this.#pass += 1;
  }

  #change(state: BreakerState): void {
    this.#state = state;
    this.#pass += 1;
    this.#failures = 0;
    this.#options.onChange(state);
  }
}
