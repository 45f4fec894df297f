/**
 * Results of resolvers on their way into compiled code. That code calls `then` on promises and lets what its own
 * callbacks throw (a getter of the value, say) reject a promise that nobody holds: the execution would never end, and
 * the process would see an unhandled rejection. So compiled code gets these instead of promises.
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
        // The execution was given up already (it threw while promises were pending): nobody waits for it any more.
      }
    };
    // A thenable of a graph's own may throw, or call back twice; a promise made from it doesn't.
    Promise.resolve(this.#promise).then(succeed, fail);
  }
}

/**
 * @param value what a resolver returned
 * @param lists how many lists its field's type is wrapped in: promises may be their items
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
