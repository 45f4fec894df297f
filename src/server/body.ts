import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * Reads a request's body.
 *
 * @throws HttpError 413 as soon as it is known to be longer than `maxBytes`. The rest is read and dropped, within the
 *   server's request timeout, so that the client can read the response and the connection can be used again.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declaredTooLong = Number(request.headers['content-length']) > maxBytes;
  const body = declaredTooLong ? undefined : await collect(request, maxBytes);
  if (body !== undefined) return body;
  request.resume();
  throw new HttpError(413, `expected a body of at most ${maxBytes} bytes (MAX_PAYLOAD_BYTES), got more`);
}

/** @returns undefined if the body is longer than `maxBytes` */
async function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
