/** ms of a turn of the event loop in which deadlines expire: a connection is closed in 50 µs, and many may have come together. */
const MOST_MS = 10;

/**
 * Deadlines that all have the same duration, with one timer for all of them. A timer for each connection would take
 * memory for as long as the connection lives.
 */
export class Deadlines<Subject> {
  readonly #afterMs: number;
  readonly #expire: (subject: Subject) => void;
  /** Deadlines in their order, in ms of `performance.now()`. */
  readonly #due = new Map<Subject, number>();
  #timer: NodeJS.Timeout | undefined;

  /** @param afterMs 0: there are no deadlines */
  constructor(afterMs: number, expire: (subject: Subject) => void) {
    this.#afterMs = afterMs;
    this.#expire = expire;
  }

  begin(subject: Subject): void {
    if (this.#afterMs === 0) return;
    this.#due.set(subject, performance.now() + this.#afterMs);
    this.#timer ??= this.#wait(this.#afterMs);
  }

  /** Ends a deadline that is met or no longer needed. */
  end(subject: Subject): void {
    if (!this.#due.delete(subject) || this.#due.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Lets deadlines expire that began more than `ms` ago. @param ms at most `afterMs` */
  expireAfter(ms: number): void {
    const now = performance.now();
    for (const [subject, due] of this.#due) {
      if (due - this.#afterMs + ms >= now) return;
      this.end(subject);
      this.#expire(subject);
    }
  }

  #wait(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#check(), ms).unref();
  }

  #check(): void {
    const now = performance.now();
    try {
      for (const [subject, due] of this.#due) {
        if (due > now || performance.now() - now > MOST_MS) return;
        this.#due.delete(subject);
        this.#expire(subject);
      }
    } finally {
      this.#waitForFirst();
    }
  }

  #waitForFirst(): void {
    clearTimeout(this.#timer);
    const [first] = this.#due.values();
    // Timers keep whole milliseconds, and may come one too early; and a turn must come between.
    this.#timer =
      first === undefined ? undefined : this.#wait(Math.max(1, Math.ceil(first - performance.now())));
  }
}
