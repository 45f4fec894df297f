/**
 * Settles as `work` does, or after `ms` with the result or the error of `onTimeout`. The work itself then goes on, and
 * its outcome is ignored. Uses the real clock, since only work that hangs reaches the limit.
 *
 * @param ms how long the work may take
 */
export function withTimeout<T>(work: PromiseLike<T>, ms: number, onTimeout: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error as Error);
      }
    }, ms);
    const settle =
      <A>(done: (outcome: A) => void) =>
      (outcome: A): void => {
        clearTimeout(timer);
        done(outcome);
      };
    work.then(settle(resolve), settle(reject));
  });
}
