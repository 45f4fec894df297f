/** `Promise.withResolvers`, which Node.js has from 22 on. A rejection without a handler is no error. */
export function deferred<T = void>() {
  const settle = {} as { resolve: (value: T) => void; reject: (error: Error) => void };
  const promise = new Promise<T>((resolve, reject) => Object.assign(settle, { resolve, reject }));
  promise.catch(() => undefined);
  return { promise, ...settle };
}
