/** Calls a function from time to time until it has nothing left to do. The timer does not keep the process running. */
export class Sweeper {
  readonly #everyMs: number;
  readonly #sweep: () => boolean;
  #isWaiting = false;

  /** @param sweep returns whether it is to be called again */
  constructor(everyMs: number, sweep: () => boolean) {
    this.#everyMs = everyMs;
    this.#sweep = sweep;
  }

  /** Called when there is something to sweep. */
  begin(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      if (this.#sweep()) this.begin();
    }, this.#everyMs).unref();
  }
}
