import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { HttpRefusal } from './admission.ts';

/** Sends a complete response. Headers that were set on it before are kept, unless `headers` also has them. */
export function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  headers: OutgoingHttpHeaders = {},
): void {
  response
    .writeHead(status, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(body),
      ...headers,
    })
    .end(body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers?: OutgoingHttpHeaders,
): void {
  send(response, status, 'application/json; charset=utf-8', `${JSON.stringify(body)}\n`, headers);
}

/** The body for a refusal: a GraphQL response if the refusal has a code. */
export function refusalBody({ message, code }: HttpRefusal): object {
  return code === undefined ? { error: message } : { errors: [{ message, extensions: { code } }] };
}
