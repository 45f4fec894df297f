import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { messagesIn, NEXT_FRAMES } from './frame.ts';
import type { FrameSink } from '../delivery/send-queue.ts';

/** Undocumented properties of ws's WebSocket. */
interface Internals {
  readonly _socket?: unknown;
  readonly _sender?: Sender;
}

/** ws's Sender. Its state is 0 as long as all that it was given has gone to the stream. */
interface Sender {
  readonly _state?: unknown;
}

/** Undocumented property of Node.js's Socket. */
interface Connected {
  readonly _handle?: { readonly fd?: unknown } | null;
}

const BYTES = { binary: false };

/**
 * A WebSocket whose ready-made frames are written past ws, and past the stream beneath as long as nothing waits in it:
 * all that the gateway relies on in ws and in Node.js beyond their documentation is in this file.
 *
 * Frames that ws makes (`send`, `ping`, `pong`, `close`) go to the same stream within the call, unless ws compresses
 * or reads a Blob: it then queues them. So order holds as long as ws has nothing queued. Where a version of ws keeps
 * none of this, each message goes through `send`; where one of Node.js shows no file descriptor, through the stream.
 */
export class RawSocket implements FrameSink {
  readonly format = NEXT_FRAMES;
  readonly webSocket: WebSocket;
  readonly #stream: Duplex;
  readonly #sender: Sender | undefined;
  /** Of a TCP connection: Node.js's handle, and the file descriptor, which is valid as long as the stream has that handle. */
  readonly #handle: Connected['_handle'];
  readonly #descriptor: number = -1;

  constructor(webSocket: WebSocket, stream: Duplex) {
    this.webSocket = webSocket;
    this.#stream = stream;
    const { _socket, _sender } = webSocket as Internals;
    if (_socket === stream) this.#sender = _sender;
    // One with TLS is another class: bytes can't be written past it.
    if (Object.getPrototypeOf(stream) !== Socket.prototype) return;
    const { _handle: handle } = stream as Connected;
    if (typeof handle?.fd !== 'number') return;
    this.#handle = handle;
    this.#descriptor = handle.fd;
  }

  get open(): boolean {
    return this.webSocket.readyState === this.webSocket.OPEN;
  }

  /** Bytes that the stream, or ws, holds. */
  get waitingBytes(): number {
    return this.webSocket.bufferedAmount;
  }

  /** The stream wants no more until it has drained. A write as large as its mark says so too, though all is sent. */
  get full(): boolean {
    return this.#stream.writableNeedDrain && this.#stream.writableLength > 0;
  }

  send(text: string): void {
    this.webSocket.send(text);
  }

  onceDrained(drained: () => void): void {
    this.#stream.once('drain', drained);
  }

  write(frames: Buffer, length: number): void {
    const written = this.#writeAtOnce(frames, length);
    if (written === length) return;
    // The rest waits in the stream, and the caller may change the bytes meanwhile.
    const rest = Buffer.from(frames.subarray(written, length));
    if (this.isDirect) this.#stream.write(rest);
    else for (const message of messagesIn(rest)) this.webSocket.send(message, BYTES);
  }

  /** One frame in pieces. */
  writePieces(pieces: readonly Buffer[]): void {
    if (!this.isDirect) {
      const frame = Buffer.concat(pieces);
      this.write(frame, frame.length);
      return;
    }
    this.#stream.cork();
    for (const piece of pieces) this.#stream.write(piece);
    this.#stream.uncork();
  }

  /** Whether bytes written to the stream now are behind all that ws has been given to send. */
  get isDirect(): boolean {
    const { _state: state } = this.#sender ?? {};
    return state === 0;
  }

  /**
   * Hands the bytes to the operating system: a stream's own bookkeeping would take a fifth more time.
   *
   * @returns how many it has taken; 0 after an error, which the write to the stream that follows meets again and reports
   */
  #writeAtOnce(bytes: Buffer, length: number): number {
    const { _handle: handle } = this.#stream as Connected;
    // Another connection may have the descriptor as soon as this one is closed.
    if (this.#descriptor < 0 || handle !== this.#handle) return 0;
    if (this.#stream.writableLength > 0 || !this.#stream.writable || !this.isDirect) return 0;
    try {
      return writeSync(this.#descriptor, bytes, 0, length);
    } catch {
      return 0;
    }
  }
}
