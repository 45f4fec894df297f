import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { DirectStream } from '../delivery/direct-stream.ts';
import type { FrameFormat, FramedResult } from '../delivery/frame-format.ts';
import type { FrameSink } from '../delivery/send-queue.ts';
import { GzipBody, type GzipFrames } from './gzip.ts';
import type { StreamWire } from './stream-wire.ts';

const LINE_END = Buffer.from('\r\n');

/** Writes each frame as one chunk of a body in HTTP/1.1 (RFC 9112, 7.1): the same bytes for all clients. */
export class ChunkedFrames implements FrameFormat {
  readonly #frames: FrameFormat;
  readonly held: FrameFormat['held'];

  constructor(frames: FrameFormat) {
    this.#frames = frames;
    this.held = frames.held?.bind(frames);
  }

  length(result: FramedResult, idLength: number): number {
    const length = this.#frames.length(result, idLength);
    return digitsOf(length) + length + 2 * LINE_END.length;
  }

  write(target: Buffer, at: number, result: FramedResult, idLength: number): number {
    const length = this.#frames.length(result, idLength);
    let end = at + target.write(length.toString(16), at, 'latin1');
    end += LINE_END.copy(target, end);
    const id = this.#frames.write(target, end, result, idLength);
    LINE_END.copy(target, end + length);
    return id;
  }

  pieces(result: FramedResult, id: string): Buffer[] {
    const length = this.#frames.length(result, id.length);
    return [Buffer.from(`${length.toString(16)}\r\n`), ...this.#frames.pieces(result, id), LINE_END];
  }
}

/** Bytes that are not empty, as one chunk. */
export function chunkOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, LINE_END]);
}

/** The number of hexadecimal digits of a length that is not 0. Fast, as each delivery needs it. */
function digitsOf(length: number): number {
  return (35 - Math.clz32(length)) >> 2;
}

/** The formats of responses in chunks, so that they share their frames. */
const chunked = new WeakMap<FrameFormat, FrameFormat>();

function inChunks(format: FrameFormat): FrameFormat {
  let frames = chunked.get(format);
  if (frames === undefined) {
    frames = new ChunkedFrames(format);
    chunked.set(format, frames);
  }
  return frames;
}

/** Undocumented: whether the body is sent in chunks, as it is in HTTP/1.1. */
interface Encoded {
  readonly chunkedEncoding?: boolean;
}

/** The stream of a response over HTTP/2. */
interface InSession {
  /** Null when it has ended. */
  readonly session?: { close(): void } | null;
}

/** The body of a response after its head was sent. It is written past the response object, in HTTP/1.1 in shared chunks. */
export class ResponseSink extends DirectStream implements FrameSink {
  readonly format: FrameFormat;
  readonly #response: ServerResponse;
  readonly #isChunked: boolean;
  readonly #gzip: GzipBody | undefined;
  readonly wrote: FrameSink['wrote'];
  #ended = false;

  /**
   * @param body the response's socket, or in HTTP/2 its stream
   * @param frames of a body with gzip; undefined: it is not compressed
   */
  constructor(response: ServerResponse, body: Duplex, wire: StreamWire, frames?: GzipFrames) {
    super(body);
    this.#response = response;
    this.#isChunked = (response as Encoded).chunkedEncoding === true;
    const gzip = frames && new GzipBody(frames);
    this.#gzip = gzip;
    this.wrote = gzip && ((result) => gzip.add(result));
    const format = frames ?? wire.format;
    this.format = this.#isChunked ? inChunks(format) : format;
  }

  get open(): boolean {
    return !this.#ended && !this.stream.destroyed;
  }

  get waitingBytes(): number {
    return this.stream.writableLength;
  }

  write(frames: Buffer, length: number): void {
    const written = this.writeAtOnce(frames, length);
    // The rest waits in the stream, and the caller may change the bytes meanwhile.
    if (written < length) this.stream.write(Buffer.from(frames.subarray(written, length)));
  }

  writePieces(pieces: readonly Buffer[]): void {
    this.writeTogether(pieces);
  }

  send(text: string): void {
    if (text !== '') this.#send(this.#gzip?.text(text) ?? Buffer.from(text));
  }

  #send(bytes: Buffer): void {
    this.stream.write(this.#isChunked ? chunkOf(bytes) : bytes);
  }

  /** Sends a last text, and ends the response. */
  end(text: string): void {
    if (!this.open) return;
    this.send(text);
    if (this.#gzip !== undefined) this.#send(this.#gzip.end());
    this.#ended = true;
    this.#response.end();
  }

  /** Also ends the connection: the client's next request comes on another one, which may lead to another pod. */
  endConnection(text: string): void {
    if (!this.open) return;
    this.end(text);
    const { session } = this.stream as InSession;
    if (session === undefined) this.stream.end();
    else session?.close();
  }

  /** Its response has been closed. */
  close(): void {
    this.#ended = true;
  }

  destroy(): void {
    this.#ended = true;
    this.stream.destroy();
  }
}
