import type { Clock } from '../support/clock.ts';
import { BackendError } from './error.ts';

/** How long one call to a back end may take, whatever it is doing, and who may end it sooner. */
export class BackendCall {
  readonly #backend: string;
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** Stops the timer. Not the same as above: what is over must not be aborted afterwards. */
  readonly #ended = new AbortController();

  /** @param outer whose end is the call's end too */
  constructor(backend: string, clock: Clock, timeoutMs: number, outer: AbortSignal | undefined) {
    this.#backend = backend;
    this.#clock = clock;
    this.#deadline = clock.now() + timeoutMs;
    this.#outer = outer;
    outer?.addEventListener('abort', this.abort, { once: true });
    if (outer?.aborted === true) this.abort();
    void this.#expire(timeoutMs);
  }

  /** Aborts with the BackendError that the call ends with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whoever waits for it gets BACKEND_ABORTED now. */
  readonly abort = (): void => {
    this.#stop('BACKEND_ABORTED');
  };

  /** Settles as `work` does, or rejects when the call is over, though `work` may go on. */
  within<T>(work: PromiseLike<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason as BackendError);
      work.then(resolve, reject);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  }

  /** @returns false, at once, if the call would be over before */
  async wait(ms: number): Promise<boolean> {
    if (this.signal.aborted || this.#clock.now() + ms >= this.#deadline) return false;
    await this.#clock.sleep(ms, this.signal);
    return !this.signal.aborted;
  }

  /** The call is done: nothing of it stays behind. */
  end(): void {
    this.#ended.abort();
    this.#outer?.removeEventListener('abort', this.abort);
  }

  async #expire(timeoutMs: number): Promise<void> {
    await this.#clock.sleep(timeoutMs, this.#ended.signal);
    if (!this.#ended.signal.aborted) this.#stop('BACKEND_TIMEOUT');
  }

  #stop(code: 'BACKEND_TIMEOUT' | 'BACKEND_ABORTED'): void {
    if (!this.signal.aborted) this.#controller.abort(new BackendError(code, this.#backend));
  }
}
