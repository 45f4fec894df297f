import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { messagesIn } from '../hub/frame.ts';
import type { Wire } from '../hub/outbox.ts';

/** What ws keeps of a socket and does not publish. */
interface Internals {
  readonly _socket?: unknown;
  readonly _sender?: { readonly _bufferedBytes?: unknown; readonly _queue?: unknown };
}

const BYTES = { binary: false };

/**
 * A WebSocket whose ready-made frames are written to the stream beneath, past ws: all that the gateway relies on in
 * ws beyond its documentation is in this file.
 *
 * Frames that ws makes (`send`, `ping`, `pong`, `close`) go to the same stream within the call, unless ws compresses
 * or reads a Blob: it then queues them and counts their bytes. So order holds as long as ws has nothing queued. Where
 * a version of ws keeps none of this, each message goes through `send`.
 */
export class RawSocket implements Wire {
  readonly webSocket: WebSocket;
  readonly #stream: Duplex;

  constructor(webSocket: WebSocket, stream: Duplex) {
    this.webSocket = webSocket;
    this.#stream = stream;
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

  /** @returns true if no part of the bytes is held any more */
  write(frames: Buffer): boolean {
    if (!this.isDirect) {
      // What ws can't send at once it keeps, and the caller may change the bytes.
      for (const message of messagesIn(Buffer.from(frames))) this.webSocket.send(message, BYTES);
      return true;
    }
    this.#stream.write(frames);
    // A stream of another kind may be done with a chunk that whoever reads it still holds.
    return this.#stream.writableLength === 0 && this.#stream instanceof Socket;
  }

  /** One frame in pieces. */
  writePieces(pieces: readonly Buffer[]): void {
    if (!this.isDirect) {
      this.write(Buffer.concat(pieces));
      return;
    }
    this.#stream.cork();
    for (const piece of pieces) this.#stream.write(piece);
    this.#stream.uncork();
  }

  /** Whether bytes written to the stream now stand behind all that ws has been told to send. */
  get isDirect(): boolean {
    const { _socket: stream, _sender: sender } = this.webSocket as Internals;
    if (stream !== this.#stream || sender === undefined) return false;
    const { _bufferedBytes: bytes, _queue: queue } = sender;
    return bytes === 0 && Array.isArray(queue) && queue.length === 0;
  }
}
