import kafkajs from '#kafkajs';

/** Whether the same attempt may succeed later: not after a wrong password, a missing codec or a fault in the code. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return true;
  if (error.cause instanceof Error) return isRetriable(error.cause);
  return error instanceof kafkajs.KafkaJSError && error.retriable;
}
