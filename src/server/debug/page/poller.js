/* Runs in the browser: does something again and again. */

/** ms; a page polls rarely while it is hidden, or while the gateway does not answer. */
const EVERY = 2_000;
const LONGEST = 30_000;

export class Poller {
  #task;
  #timer;
  #isRunning = false;
  #isPaused = false;
  /** Whether the task has to run again right after this run, as the user has asked for something else. */
  #again = false;
  #wait = EVERY;

  /** @param task async; returns whether it has succeeded */
  constructor(task) {
    this.#task = task;
    document.addEventListener('visibilitychange', () => this.#seen());
  }

  static get everyMs() {
    return EVERY;
  }

  get isPaused() {
    return this.#isPaused;
  }

  set isPaused(isPaused) {
    this.#isPaused = isPaused;
    if (isPaused) clearTimeout(this.#timer);
    else void this.now();
  }

  /** Runs the task now, or right after the run that is under way. */
  async now() {
    this.#again = true;
    if (this.#isRunning) return;
    clearTimeout(this.#timer);
    this.#isRunning = true;
    while (this.#again) {
      this.#again = false;
      const isDone = await this.#task();
      this.#wait = isDone ? EVERY : Math.min(2 * this.#wait, LONGEST);
    }
    this.#isRunning = false;
    this.#schedule();
  }

  #schedule() {
    clearTimeout(this.#timer);
    if (this.#isPaused) return;
    this.#timer = setTimeout(() => this.now(), document.hidden ? LONGEST : this.#wait);
  }

  #seen() {
    if (this.#isPaused || this.#isRunning) return;
    if (document.hidden) this.#schedule();
    else void this.now();
  }
}
