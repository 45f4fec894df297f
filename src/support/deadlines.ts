/**
 * Deadlines that are all equally far ahead, with one timer for all of them: a connection would hold a timer of its own
 * for as long as it lives.
 */
export class Deadlines<Subject> {
  readonly #afterMs: number;
  readonly #expire: (subject: Subject) => void;
  /** In the order in which they come. */
  readonly #due = new Map<Subject, number>();
  #timer: NodeJS.Timeout | undefined;

  /** @param afterMs 0: there are none */
  constructor(afterMs: number, expire: (subject: Subject) => void) {
    this.#afterMs = afterMs;
    this.#expire = expire;
  }

  begin(subject: Subject): void {
    if (this.#afterMs === 0) return;
    this.#due.set(subject, performance.now() + this.#afterMs);
    this.#timer ??= this.#wait(this.#afterMs);
  }

  /** The deadline is met, or no longer needed. */
  end(subject: Subject): void {
    if (!this.#due.delete(subject) || this.#due.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Ends the deadlines of those that have had one for longer than this, as if they were over. @param ms at most `afterMs` */
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
    for (const [subject, due] of this.#due) {
      if (due > now) {
        // Timers keep whole milliseconds, and may come one too early.
        this.#timer = this.#wait(Math.ceil(due - now));
        return;
      }
      this.#due.delete(subject);
      this.#expire(subject);
    }
  }
}
