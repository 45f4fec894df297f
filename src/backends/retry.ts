import type { BackendError, BackendErrorCode } from './error.ts';

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 2_000;

/** Methods whose repetition does no harm (RFC 9110, 9.2.2), as far as back ends offer them. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

const PASSING: ReadonlySet<BackendErrorCode> = new Set(['BACKEND_UNAVAILABLE', 'BACKEND_TIMEOUT']);

export function isIdempotent(method: string, declared: boolean | undefined): boolean {
  return declared ?? IDEMPOTENT.has(method);
}

/**
 * How long to wait before another try, doubling, and between half of it and all of it so that pods that failed together
 * don't come back together; never less than the back end asked for.
 *
 * Own code: undici's retry interceptor resumes bodies by Range and cockatiel's sleeps on after an abort.
 *
 * @param attempt 0 for the first wait
 * @param random 0 to 1
 * @returns ms; undefined if another try has no point
 */
export function retryWait(error: BackendError, attempt: number, random: number): number | undefined {
  if (!PASSING.has(error.code)) return undefined;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** attempt, MAX_WAIT_MS) * (0.5 + random / 2);
  return Math.max(wait, (error.retryAfter ?? 0) * 1_000);
}

/**
 * @param date the response's own Date header, so that clocks need not agree
 * @returns s; undefined if it is absent or broken
 */
export function retryAfterSeconds(value: unknown, date: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(String(date))) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
