import type { ExecutionResult } from 'graphql';

/** A query or mutation whose result is not there yet. */
export class PendingQuery {
  #settled = false;
  #result: ExecutionResult | undefined;
  #resolve: ((result: ExecutionResult | undefined) => void) | undefined;
  #giveUp: (() => void) | undefined;
  readonly #onSettled: () => void;

  /** @param onSettled called once, when there is a result, or when the client gets none any more */
  constructor(onSettled: () => void = () => undefined) {
    this.#onSettled = onSettled;
  }

  /** The result; undefined until there is one. */
  get settled(): ExecutionResult | undefined {
    return this.#result;
  }

  /** Resolves with undefined if the client has left, or may not have the result any more. To be called once. */
  result(): Promise<ExecutionResult | undefined> {
    return new Promise((resolve) => {
      if (this.#settled) resolve(this.#result);
      else this.#resolve = resolve;
    });
  }

  /** @param giveUp called if the client leaves from now on */
  untilThen(giveUp: (() => void) | undefined): void {
    this.#giveUp = giveUp;
  }

  settle(result: ExecutionResult | undefined): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#onSettled();
    this.#result = result;
    this.#giveUp = undefined;
    this.#resolve?.(result);
  }

  /** Called when the client has left, or wants no result any more. */
  cancel(): void {
    const giveUp = this.#giveUp;
    this.settle(undefined);
    giveUp?.();
  }
}
