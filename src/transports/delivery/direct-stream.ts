import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Undocumented property of Node.js's Socket. */
interface Connected {
  readonly _handle?: { readonly fd?: unknown } | null;
}

/**
 * A stream. While nothing waits in it, bytes are written to its file descriptor, past Node.js; without a descriptor, they
 * go through the stream. All that the gateway uses of Node.js beyond its documentation is in this file.
 */
export class DirectStream {
  protected readonly stream: Duplex;
  /** The handle and file descriptor of a TCP connection. The descriptor is valid as long as the stream has that handle. */
  readonly #handle: Connected['_handle'];
  readonly #descriptor: number = -1;

  constructor(stream: Duplex) {
    this.stream = stream;
    // A socket with TLS has another class: bytes can't be written past it.
    if (Object.getPrototypeOf(stream) !== Socket.prototype) return;
    const { _handle: handle } = stream as Connected;
    if (typeof handle?.fd !== 'number') return;
    this.#handle = handle;
    this.#descriptor = handle.fd;
  }

  /** Whether the stream has to drain first. `writableNeedDrain` alone is also true after a large write that was all sent. */
  get full(): boolean {
    return this.stream.writableNeedDrain && this.stream.writableLength > 0;
  }

  onceDrained(drained: () => void): void {
    this.stream.once('drain', drained);
  }

  /**
   * Hands the bytes to the operating system: going through the stream would take a fifth more time.
   *
   * @returns how many it has taken; 0 after an error, which the following write to the stream meets again and reports
   */
  protected writeAtOnce(bytes: Buffer, length: number): number {
    const { _handle: handle } = this.stream as Connected;
    // After this connection has closed, another one may have the same descriptor.
    if (this.#descriptor < 0 || handle !== this.#handle) return 0;
    if (this.stream.writableLength > 0 || !this.stream.writable) return 0;
    try {
      return writeSync(this.#descriptor, bytes, 0, length);
    } catch {
      return 0;
    }
  }

  /** Makes the stream send the pieces of one message together. */
  protected writeTogether(pieces: readonly Buffer[]): void {
    this.stream.cork();
    for (const piece of pieces) this.stream.write(piece);
    this.stream.uncork();
  }
}
