import type { ResponseInit } from '#graphql-http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { RequestHead } from '../../graph/api/context.ts';
import { refusal } from './refusals.ts';
import { streamHeaders, type StreamWire } from './stream-wire.ts';

/** A whole HTTP response, ready to be written. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** Media types, in UTF-8. */
export const TAKEN = 'application/json';
const ANSWERED = `application/graphql-response+json or ${TAKEN}`;

/** The result of an operation that is over, for a client that accepts only streams. */
export function wholeStream(wire: StreamWire, json: string): HttpResponse {
  return {
    status: 200,
    headers: streamHeaders(wire),
    body: wire.opening() + wire.result(json) + wire.completed,
  };
}

/** The response, with the body that graphql-http leaves out if it does not support the media types: 406 and 415. */
export function bodyless({ status, headers }: ResponseInit, request: RequestHead): HttpResponse {
  const { accept, 'content-type': contentType = 'none' } = request.headers;
  const { error } =
    status === 406
      ? refusal(status, 'NOT_ACCEPTABLE', `expected accept to name ${ANSWERED}, got ${accept}`)
      : refusal(status, 'UNSUPPORTED_MEDIA_TYPE', `expected content-type ${TAKEN}, got ${contentType}`);
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ errors: [error] }),
  };
}
