import type { Clock } from '../support/clock.ts';
import { BackendError } from './error.ts';

/** The time limit of one call to a back end, from waiting for a connection to reading the response, and its abort. */
export class BackendCall {
  readonly #backend: string;
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** Stops the timer. `#controller` can't do so: the signal of a call that has succeeded must not abort. */
  readonly #ended = new AbortController();

  /**
   * @param backend name of the back end
   * @param timeoutMs limit of the whole call
   * @param outer signal of the execution, whose abort aborts the call
   */
  constructor(backend: string, clock: Clock, timeoutMs: number, outer: AbortSignal | undefined) {
    this.#backend = backend;
    this.#clock = clock;
    this.#deadline = clock.now() + timeoutMs;
    this.#outer = outer;
    outer?.addEventListener('abort', this.abort, { once: true });
    if (outer?.aborted === true) this.abort();
    void this.#expire(timeoutMs);
  }

  /** Aborts when the call times out or is aborted; its reason is the BackendError that the call rejects with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The call rejects with BACKEND_ABORTED at once. */
  readonly abort = (): void => {
    this.#stop('BACKEND_ABORTED');
  };

  /** Settles as `work` does; rejects when the call times out or is aborted, though `work` may go on. */
  within<T>(work: PromiseLike<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason as BackendError);
      work.then(resolve, reject);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  }

  /**
   * Waits between two attempts.
   *
   * @returns false at once if the call would time out before; false if it is aborted while waiting
   */
  async wait(ms: number): Promise<boolean> {
    if (this.signal.aborted || this.#clock.now() + ms >= this.#deadline) return false;
    await this.#clock.sleep(ms, this.signal);
    return !this.signal.aborted;
  }

  /** Stops the timer and removes the listener from the outer signal; called when the call has settled. */
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
