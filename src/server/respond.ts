import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Sends a complete response. Headers that have been set on it before are kept, unless `headers` has them too. */
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
