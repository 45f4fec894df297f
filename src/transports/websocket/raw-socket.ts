import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { terminateLater } from '../connections/cut-off.ts';
import { DirectStream } from '../delivery/direct-stream.ts';
import type { FrameSink } from '../delivery/send-queue.ts';
import type { FrameFormat } from '../delivery/frame-format.ts';
import { messagesIn } from './frame.ts';

/** Undocumented properties of ws's WebSocket. */
interface Internals {
  readonly _socket?: unknown;
  readonly _sender?: Sender;
  readonly _receiver?: Receiver | null;
  readonly _extensions?: { readonly 'permessage-deflate'?: PerMessageDeflate };
}

/** ws's extension. */
interface PerMessageDeflate {
  readonly params: { readonly server_max_window_bits?: number } | null;
  decompress: (data: Buffer, isLast: boolean, done: (error: null, data: Buffer) => void) => void;
}

/** Results are compressed with the largest window, of 32 KiB, before it is known who reads them. */
const WINDOW_BITS = 15;

/** ws's Sender. Its state is 0 while everything that it got has gone to the stream. */
interface Sender {
  readonly _state?: unknown;
}

/** ws's Receiver: what it holds of a frame, and of a message in several frames, and whether it goes on to the next frame. */
interface Receiver {
  readonly _bufferedBytes?: number;
  readonly _messageLength?: number;
  readonly _loop?: boolean;
}

const BYTES = { binary: false };

/** So many frames after a connection's end terminate its socket: as many messages may wait on an open connection. */
const MAX_DROPPED = 500;

/**
 * A WebSocket: the gateway writes ready-made frames past ws. This file has all that the gateway uses of ws beyond its
 * documentation.
 *
 * Frames that ws makes (`send`, `ping`, `pong`, `close`) go to the same stream within the call, unless ws compresses or
 * reads a Blob: it then queues them. So the order holds as long as ws has nothing queued. With a version of ws that lacks
 * these properties, each message goes through `send`.
 */
export class RawSocket extends DirectStream implements FrameSink {
  readonly format: FrameFormat;
  readonly webSocket: WebSocket;
  readonly #sender: Sender | undefined;
  /** Whether ws leaves it to the gateway to read compressed messages, and to check texts. */
  readonly leavesTexts: boolean;
  #isCompressed = false;
  /** Frames that came while the socket was being closed. */
  #dropped = 0;

  /** @param compressed the format where the client has offered compression; undefined: it is the same */
  constructor(webSocket: WebSocket, stream: Duplex, format: FrameFormat, compressed = format) {
    super(stream);
    this.webSocket = webSocket;
    const { _socket, _sender, _extensions } = webSocket as Internals;
    if (_socket === stream) this.#sender = _sender;
    const deflate = _extensions?.['permessage-deflate'];
    this.leavesTexts = deflate !== undefined;
    const { server_max_window_bits: windowBits = WINDOW_BITS } = deflate?.params ?? {};
    this.format = deflate !== undefined && windowBits === WINDOW_BITS ? compressed : format;
    if (deflate !== undefined) this.#leaveCompressed(deflate);
  }

  /**
   * Makes ws hand compressed messages over as they are. It would inflate each fragment at once, past the client's rate, and keep
   * the memory for that.
   */
  #leaveCompressed(deflate: PerMessageDeflate): void {
    const { _receiver: receiver } = this.webSocket as Internals;
    if (receiver != null) Object.assign(receiver, { _skipUTF8Validation: true });
    deflate.decompress = (data, _isLast, done) => {
      this.#isCompressed = true;
      // Not at once: ws goes on with the next frame within `done`.
      process.nextTick(done, null, data);
    };
  }

  get open(): boolean {
    return this.webSocket.readyState === this.webSocket.OPEN;
  }

  /** Bytes that the stream, or ws, holds. */
  get waitingBytes(): number {
    return this.webSocket.bufferedAmount;
  }

  /** Bytes of a message that has come only in part. */
  get unfinishedBytes(): number {
    const { _receiver: receiver } = this.webSocket as Internals;
    const { _bufferedBytes: frame = 0, _messageLength: message = 0 } = receiver ?? {};
    return frame + message;
  }

  /**
   * Call this for each frame, while ws hands it over. A socket that is being closed is still read, as its answer to the
   * close frame comes after earlier messages of the client. After MAX_DROPPED frames reading stops, and the rest of the
   * bytes is dropped: 64 KB of pings took 50 ms.
   */
  takesFrame(): boolean {
    if (this.open) return true;
    this.#dropped += 1;
    if (this.#dropped === MAX_DROPPED) terminateLater(this.webSocket);
    if (this.#dropped >= MAX_DROPPED) this.#stopReading();
    return false;
  }

  /** Call this for each message, while ws hands it over. @returns whether it is compressed */
  tookCompressed(): boolean {
    const isCompressed = this.#isCompressed;
    this.#isCompressed = false;
    return isCompressed;
  }

  #stopReading(): void {
    const { _receiver: receiver } = this.webSocket as Internals;
    if (receiver != null) Object.assign(receiver, { _loop: false });
    this.webSocket.pause();
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

  /** Whether bytes that are written to the stream now come after everything that ws has to send. */
  get isDirect(): boolean {
    const { _state: state } = this.#sender ?? {};
    return state === 0;
  }
}
