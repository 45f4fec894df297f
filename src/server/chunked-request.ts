import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** So many chunks of a body may have any length. */
const ANY_LENGTH = 128;

/** With more chunks, the least average bytes of a chunk. */
const LEAST_BYTES = 256;

/**
 * Counts the chunks of a body. A body must not come in thousands of small chunks: Node.js makes a Buffer of each, which
 * takes 100 to 400 bytes, before anything reads the body. A body that a client writes in one piece comes in far larger
 * chunks, however slow the network is.
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

/** A request of HTTP/1.1. Its connection ends if the body comes in many small chunks. */
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
