import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * Reads a request's body.
 *
 * @param signal stops reading, with its reason
 * @throws HttpError 413 as soon as the body is known to be longer than `maxBytes`. In both cases the rest is read and
 *   dropped, within the server's request timeout: the client can read the response, and reuse the connection.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  const declaredTooLong = Number(request.headers['content-length']) > maxBytes;
  const body = declaredTooLong ? undefined : await collect(request, maxBytes, signal);
  if (body !== undefined) return body;
  request.resume();
  throw new HttpError(413, `expected a body of at most ${maxBytes} bytes (MAX_PAYLOAD_BYTES), got more`);
}

/**
 * Does not iterate over the request: a pending iteration could not be left.
 *
 * @returns undefined if the body is longer than `maxBytes`
 */
function collect(
  request: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', fail).off('close', onClose);
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      stop();
      resolve(undefined);
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks, size));
    };
    const onClose = (): void => fail(new Error('expected the whole body, got a part: the client has left'));
    const onAbort = (): void => {
      fail(signal?.reason as Error);
      request.resume();
    };
    request.on('data', onData).on('end', onEnd).on('error', fail).on('close', onClose);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
