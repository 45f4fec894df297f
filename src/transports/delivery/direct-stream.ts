import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Undocumented property of Node.js's Socket. */
interface Connected {
  readonly _handle?: { readonly fd?: unknown } | null;
}

/**
 * A stream to which bytes are written past Node.js as long as nothing waits in it: all that the gateway relies on in Node.js
 * beyond its documentation is in this file. Where a version of Node.js shows no file descriptor, they go through the stream.
 */
export class DirectStream {
  protected readonly stream: Duplex;
  /** Node.js's handle and the file descriptor of a TCP connection. The descriptor is valid as long as the stream has that handle. */
  readonly #handle: Connected['_handle'];
  readonly #descriptor: number = -1;

  constructor(stream: Duplex) {
    this.stream = stream;
    // One with TLS is another class: bytes can't be written past it.
    if (Object.getPrototypeOf(stream) !== Socket.prototype) return;
    const { _handle: handle } = stream as Connected;
    if (typeof handle?.fd !== 'number') return;
    this.#handle = handle;
    this.#descriptor = handle.fd;
  }

  /** The stream wants no more until it has drained. A write as large as its mark says so too, though all is sent. */
  get full(): boolean {
    return this.stream.writableNeedDrain && this.stream.writableLength > 0;
  }

  onceDrained(drained: () => void): void {
    this.stream.once('drain', drained);
  }

  /**
   * Hands the bytes to the operating system: a stream's own bookkeeping would take a fifth more time.
   *
   * @returns how many it has taken; 0 after an error, which the write to the stream that follows meets again and reports
   */
  protected writeAtOnce(bytes: Buffer, length: number): number {
    const { _handle: handle } = this.stream as Connected;
    // Another connection may have the descriptor as soon as this one is closed.
    if (this.#descriptor < 0 || handle !== this.#handle) return 0;
    if (this.stream.writableLength > 0 || !this.stream.writable) return 0;
    try {
      return writeSync(this.#descriptor, bytes, 0, length);
    } catch {
      return 0;
    }
  }

  /** Has the stream send pieces of one message together. */
  protected writeTogether(pieces: readonly Buffer[]): void {
    this.stream.cork();
    for (const piece of pieces) this.stream.write(piece);
    this.stream.uncork();
  }
}
