import type { Result, Sink } from './graphql-ws.ts';

/**
 * Iterates over the results of a subscription, as graphql-ws does. The subscription begins with the call, and ends when
 * the caller leaves the iterator.
 */
export function iterate(subscribe: (sink: Sink) => () => void): AsyncIterableIterator<Result> {
  const waiting: Result[] = [];
  let end: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  const finish = (how: { readonly error?: unknown }): void => {
    end = end ?? how;
    wake?.();
  };
  const stop = subscribe({
    next(result) {
      waiting.push(result);
      wake?.();
    },
    error: (error) => finish({ error }),
    complete: () => finish({}),
  });
  const leave = (how: { readonly error?: unknown }): void => {
    waiting.length = 0;
    finish(how);
    stop();
  };

  async function* results(): AsyncGenerator<Result, void> {
    for (;;) {
      const result = waiting.shift();
      if (result) yield result;
      else if (end && 'error' in end) throw end.error;
      else if (end) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  // A waiting generator handles no `return` until it continues.
  return Object.assign(results(), {
    async return() {
      leave({});
      return { done: true as const, value: undefined };
    },
    async throw(error: unknown) {
      leave({ error });
      return { done: true as const, value: undefined };
    },
  });
}
