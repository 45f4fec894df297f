/** Expiring in one turn of the event loop: a connection is closed in some 50 µs, and many may have come together. */
const AT_ONCE = 250;

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
    this.#timer = undefined;
    const now = performance.now();
    let expired = 0;
    for (const [subject, due] of this.#due) {
      if (due > now || expired === AT_ONCE) {
        // Timers keep whole milliseconds, and may come one too early; a turn must come between.
        this.#timer = this.#wait(Math.max(1, Math.ceil(due - now)));
        return;
      }
      expired += 1;
      this.#due.delete(subject);
      this.#expire(subject);
    }
  }
}
