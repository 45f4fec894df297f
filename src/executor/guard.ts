import { Resumed } from '../support/resumption.ts';

/**
 * Wraps the promises that resolvers return before compiled code gets them. Compiled code calls `then` and drops the promise
 * that `then` returns. If one of its callbacks throws (by a getter of the value, for example), that dropped promise
 * rejects: the execution would never end, and the process would see an unhandled rejection.
 */

type Callback = (value: unknown) => void;

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

class Guarded {
  readonly #promise: PromiseLike<unknown>;
  readonly #lists: number;

  constructor(promise: PromiseLike<unknown>, lists: number) {
    this.#promise = promise;
    this.#lists = lists;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- compiled code takes it for the promise that it guards
  then(onValue: Callback, onError: Callback): void {
    const succeed = (value: unknown): void => {
      try {
        onValue(guard(value, this.#lists));
      } catch (thrown) {
        fail(thrown);
      }
    };
    const fail = (reason: unknown): void => {
      try {
        onError(reason);
      } catch {
        // Compiled code has thrown already while promises were pending, and graphql-js has taken over.
      }
    };
    // A thenable written by a graph author may throw, or call back twice; a promise made from it doesn't.
    const promise = this.#promise instanceof Resumed ? this.#promise : Promise.resolve(this.#promise);
    promise.then(succeed, fail);
  }
}

/**
 * @param value what a resolver returned
 * @param lists how many lists the field's type is wrapped in: their items may be promises, too
 */
export function guard(value: unknown, lists: number): unknown {
  if (isPromise(value)) return new Guarded(value, lists);
  if (lists === 0 || !isIterableObject(value)) return value;
  const items = Array.isArray(value) ? (value as unknown[]) : Array.from(value);
  if (lists === 1 && !items.some(isPromise)) return items;
  return items.map((item) => guard(item, lists - 1));
}

function isIterableObject(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}
