import { IncomingMessage } from 'node:http';

/** Chunks of a body that may be of any length. */
const ANY_LENGTH = 128;

/** Bytes that the chunks of a body have on average at least, once there are more. */
const LEAST_BYTES = 256;

/**
 * A request whose body must not come in thousands of small chunks: Node.js makes a Buffer of each, which takes some 400 bytes,
 * before anybody reads the body. What a client writes in one piece comes in far larger ones, however slow its network is.
 */
export class ChunkedRequest extends IncomingMessage {
  #chunks = 0;
  #bytes = 0;

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk instanceof Uint8Array) {
      this.#chunks += 1;
      this.#bytes += chunk.length;
      if (this.#chunks > ANY_LENGTH && this.#bytes < this.#chunks * LEAST_BYTES) {
        this.socket.destroy();
        return false;
      }
    }
    return super.push(chunk, encoding);
  }
}
