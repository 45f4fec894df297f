import { GraphQLError } from 'graphql';
import type { OutgoingHttpHeaders } from 'node:http';
import type { TokenRefusal } from '../../auth/refusal.ts';
import { tooManyOperations } from '../too-many-operations.ts';

/** Why a request is not executed: an error, and the status and headers of the response. */
export interface Refusal {
  readonly status: number;
  readonly error: GraphQLError;
  readonly headers?: OutgoingHttpHeaders;
}

export const FORBIDDEN = refusal(403, 'FORBIDDEN', 'Forbidden: authenticate refused the request');

/** A page of any site can have a browser send a GET, so it must change nothing. */
export const NO_MUTATIONS = refusal(
  405,
  'METHOD_NOT_ALLOWED',
  'Mutations are not executed over GET: send them by POST',
  { allow: 'POST' },
);

export const TOO_SLOW = refusal(
  408,
  'REQUEST_TIMEOUT',
  'expected the body sooner, as other requests wait for its room, got a part of it',
);

/** For a client that no longer reads the response. */
export const LEFT = refusal(499, 'CLIENT_CLOSED_REQUEST', 'The client has left.');

export function podFull(message: string): Refusal {
  return refusal(503, 'POD_FULL', message, { 'retry-after': '1' });
}

/** @param most operations of one connection at the same time */
export function tooMany(most: number): Refusal {
  return { status: 429, error: tooManyOperations(most) };
}

/** The client may try again with another token, or later. */
export function unidentified({ reason, isTemporary }: TokenRefusal): Refusal {
  if (isTemporary) return refusal(503, 'SERVICE_UNAVAILABLE', reason, { 'retry-after': '2' });
  return refusal(401, 'UNAUTHENTICATED', reason, { 'www-authenticate': 'Bearer' });
}

export function refusal(
  status: number,
  code: string,
  message: string,
  headers?: OutgoingHttpHeaders,
): Refusal {
  const error = new GraphQLError(message, { extensions: { code } });
  return headers === undefined ? { status, error } : { status, error, headers };
}
