import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** Chunks of a body that may be of any length. */
const ANY_LENGTH = 128;

/** Bytes that the chunks of a body have on average at least, once there are more. */
const LEAST_BYTES = 256;

/**
 * Counts the chunks in which a body comes. It must not come in thousands of small ones: Node.js makes a Buffer of each, which
 * takes 100 to 400 bytes, before anybody reads the body. What a client writes in one piece comes in far larger ones, however
 * slow its network is.
 */
class Chunks {
  #count = 0;
  #bytes = 0;

  areTooSmallWith(chunk: unknown): boolean {
    if (!(chunk instanceof Uint8Array)) return false;
    this.#count += 1;
    this.#bytes += chunk.length;
    return this.#count > ANY_LENGTH && this.#bytes < this.#count * LEAST_BYTES;
  }
}

/** A request of HTTP/1.1, whose connection ends if its body comes in many small chunks. */
export class ChunkedRequest extends IncomingMessage {
  readonly #chunks = new Chunks();

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (!this.#chunks.areTooSmallWith(chunk)) return super.push(chunk, encoding);
    this.socket.destroy();
    return false;
  }
}

/** @param end ends the connection of a stream of HTTP/2, if its body comes in many small chunks */
export function boundChunks(stream: Readable, end: () => void): void {
  const chunks = new Chunks();
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (!chunks.areTooSmallWith(chunk)) return push(chunk, encoding);
    end();
    return false;
  };
}
