/**
 * Number of the period in which a call was admitted. Each change of state begins a period; outcomes of calls that were
 * admitted in an earlier period are ignored.
 */
export type Pass = number;

export type BreakerState = 'closed' | 'open' | 'half-open';

interface Options {
  /** Number of consecutive failures that opens the breaker. */
  readonly failures: number;
  /** ms from opening to the first trial; doubles with each failed trial. */
  readonly openMs: number;
  /** ms */
  readonly now: () => number;
  readonly onChange: (state: BreakerState) => void;
}

const MAX_OPEN_MS = 30_000;

/**
 * Refuses calls to a back end that has failed repeatedly.
 *
 *   closed ──consecutive failures──► open ──openMs is over──► half-open: one call is admitted as a trial
 *     ▲                               ▲                          │  │
 *     └──────── it succeeds ──────────┼──────────────────────────┘  │
 *                                     └── it fails: open twice as long
 *
 * The breaker counts consecutive failures, not a share of failures, so that one path that always fails does not block
 * calls of other paths.
 *
 * Own code, since cockatiel and opossum count a trial that its caller aborted as a success, let callers wait without
 * bound for the end of a trial (cockatiel) or keep a timer running (opossum), and read the clock themselves.
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

  /** Whether `enter` would refuse a call now. */
  get refuses(): boolean {
    if (this.#state === 'open') return this.#options.now() < this.#openUntil;
    return this.#state === 'half-open';
  }

  /** @returns undefined if the call is refused; otherwise `succeed`, `fail` or `withdraw` must be called afterwards */
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

  /** The call ended without a sign of the back end's health (an abort, say); the next call is the trial instead. */
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
