import type { BackendError, BackendErrorCode } from './error.ts';

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 2_000;

/** The methods of `Backend` that are idempotent (RFC 9110, 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

/** Errors that may be gone at the next attempt. */
const TRANSIENT: ReadonlySet<BackendErrorCode> = new Set(['BACKEND_UNAVAILABLE', 'BACKEND_TIMEOUT']);

export function isIdempotent(method: string, declared: boolean | undefined): boolean {
  return declared ?? IDEMPOTENT.has(method);
}

/**
 * The wait before the next attempt: it doubles with each attempt, and is shortened by a random part of up to half, so
 * that pods whose calls failed together do not retry together. It is never less than the response's Retry-After.
 *
 * Own code: undici's retry interceptor resumes bodies by Range, and cockatiel's continues to wait after an abort.
 *
 * @param attempt 0 before the first retry
 * @param random from 0 to 1
 * @returns ms; undefined if the error is not transient, so that a retry would be useless
 */
export function retryWait(error: BackendError, attempt: number, random: number): number | undefined {
  if (!TRANSIENT.has(error.code)) return undefined;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** attempt, MAX_WAIT_MS) * (0.5 + random / 2);
  return Math.max(wait, (error.retryAfter ?? 0) * 1_000);
}

/**
 * @param value the Retry-After header: seconds, or a date
 * @param date the response's own Date header, to which a date is compared, so that the gateway's clock does not matter
 * @returns s; undefined if the header is absent or malformed
 */
export function retryAfterSeconds(value: unknown, date: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(String(date))) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
