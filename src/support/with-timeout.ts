/**
 * Settles as `work` does, or with what `onTimeout` gives or throws if the time is over first. The work itself goes on;
 * its outcome is then ignored. By the real clock: for a bound that only a hang reaches.
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
