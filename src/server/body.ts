import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * Reads a request's body.
 *
 * @throws HttpError 413 as soon as it is known to be longer than `maxBytes`. The rest is not kept: Node.js discards it
 *   while the answer goes out, so that the client gets to read that, until the server's request timeout at the latest.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): HttpError =>
    new HttpError(413, `expected a body of at most ${maxBytes} bytes (MAX_PAYLOAD_BYTES), got more`);
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) break;
    chunks.push(chunk);
  }
  if (size > maxBytes) {
    request.resume();
    throw tooLarge();
  }
  return Buffer.concat(chunks, size);
}
