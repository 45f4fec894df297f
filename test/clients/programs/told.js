/** @typedef {{next: (data: unknown) => void, error: (error: unknown) => void, complete: () => void}} Sink */

/**
 * @param {(what: object) => void} tell
 * @returns {Sink} for one subscription
 */
export const sinkOf = (id, tell) => ({
  next: (data) => tell({ id, data }),
  error: (error) => tell({ id, error: wordsOf(error) }),
  complete: () => tell({ id, isComplete: true }),
});

/** All messages that an error of a library brings along. */
function wordsOf(error) {
  if (Array.isArray(error)) return error.map(wordsOf).join('; ');
  const { message, code, reason, errors = [], graphQLErrors = [], source } = error;
  const below = [...errors, ...graphQLErrors, ...(source?.errors ?? [])].map(wordsOf);
  return [message ?? `${code} ${reason}`, ...below].join('; ');
}
