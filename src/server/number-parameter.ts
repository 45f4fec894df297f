import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';
import { queryOf } from './router.ts';

interface Range {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

/**
 * A whole number from a request's query string.
 *
 * @throws HttpError 400 if it is not a whole number, or out of range
 */
export function numberParameter(request: IncomingMessage, name: string, range: Range): number {
  const given = queryOf(request).get(name);
  if (given === null) return range.default;
  const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new HttpError(
    400,
    `${name}: expected a whole number from ${range.min} to ${range.max}, got ${JSON.stringify(given)}`,
  );
}
