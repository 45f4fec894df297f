import kafkajs from '#kafkajs';
import { TokenUnavailable } from '../credentials/token-unavailable.ts';
import { TLS_REFUSED } from './socket.ts';

/** Whether the same attempt may succeed later: not after a wrong password, a missing codec or a fault in the code. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error) || isRefused(error)) return false;
  if (error instanceof TokenUnavailable) return error.retriable;
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return true;
  if (error.cause instanceof Error) return isRetriable(error.cause);
  return error instanceof kafkajs.KafkaJSError && error.retriable;
}

/** kafkajs tries such connections again, like all others. */
function isRefused(error: Error & { readonly code?: unknown }): boolean {
  return error.code === TLS_REFUSED || (error.cause instanceof Error && isRefused(error.cause));
}
