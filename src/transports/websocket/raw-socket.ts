import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { DirectStream } from '../delivery/direct-stream.ts';
import type { FrameSink } from '../delivery/send-queue.ts';
import type { FrameFormat } from '../delivery/frame-format.ts';
import { messagesIn } from './frame.ts';

/** Undocumented properties of ws's WebSocket. */
interface Internals {
  readonly _socket?: unknown;
  readonly _sender?: Sender;
  readonly _receiver?: Receiver | null;
}

/** ws's Sender. Its state is 0 as long as all that it was given has gone to the stream. */
interface Sender {
  readonly _state?: unknown;
}

/** ws's Receiver: what it holds of a frame, and of a message in several frames. */
interface Receiver {
  readonly _bufferedBytes?: number;
  readonly _messageLength?: number;
}

const BYTES = { binary: false };

/**
 * A WebSocket whose ready-made frames are written past ws: all that the gateway relies on in ws beyond its documentation is
 * in this file.
 *
 * Frames that ws makes (`send`, `ping`, `pong`, `close`) go to the same stream within the call, unless ws compresses
 * or reads a Blob: it then queues them. So order holds as long as ws has nothing queued. Where a version of ws keeps
 * none of this, each message goes through `send`.
 */
export class RawSocket extends DirectStream implements FrameSink {
  readonly format: FrameFormat;
  readonly webSocket: WebSocket;
  readonly #sender: Sender | undefined;

  constructor(webSocket: WebSocket, stream: Duplex, format: FrameFormat) {
    super(stream);
    this.format = format;
    this.webSocket = webSocket;
    const { _socket, _sender } = webSocket as Internals;
    if (_socket === stream) this.#sender = _sender;
  }

  get open(): boolean {
    return this.webSocket.readyState === this.webSocket.OPEN;
  }

  /** Bytes that the stream, or ws, holds. */
  get waitingBytes(): number {
    return this.webSocket.bufferedAmount;
  }

  /** Bytes of a message of which only a part has come. */
  get unfinishedBytes(): number {
    const { _receiver: receiver } = this.webSocket as Internals;
    const { _bufferedBytes: frame = 0, _messageLength: message = 0 } = receiver ?? {};
    return frame + message;
  }

  send(text: string): void {
    this.webSocket.send(text);
  }

  write(frames: Buffer, length: number): void {
    const written = this.isDirect ? this.writeAtOnce(frames, length) : 0;
    if (written === length) return;
    // The rest waits in the stream, and the caller may change the bytes meanwhile.
    const rest = Buffer.from(frames.subarray(written, length));
    if (this.isDirect) this.stream.write(rest);
    else for (const message of messagesIn(rest)) this.webSocket.send(message, BYTES);
  }

  /** One frame in pieces. */
  writePieces(pieces: readonly Buffer[]): void {
    if (this.isDirect) {
      this.writeTogether(pieces);
      return;
    }
    const frame = Buffer.concat(pieces);
    this.write(frame, frame.length);
  }

  /** Whether bytes written to the stream now are behind all that ws has been given to send. */
  get isDirect(): boolean {
    const { _state: state } = this.#sender ?? {};
    return state === 0;
  }
}
