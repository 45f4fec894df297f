import { connect, type Socket } from 'node:net';
import { constants, inflateRawSync } from 'node:zlib';
import type { Receiver } from './raw-client.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

const GZIP_MAGIC = 0x1f8b;
const GZIP_HEADER_BYTES = 10;

/** All sockets of a process read into this buffer in turn: bytes that are kept are copied. */
const SHARED = Buffer.allocUnsafe(256 * 1024);

/**
 * A client of a chunked response. It looks at chunks, not into them, and so costs its process next to nothing. Each
 * chunk is one message, as all servers here write them.
 */
export class StreamClient {
  readonly #socket: Socket;
  readonly #receiver: Receiver;
  #acknowledged = false;
  #isGzip = false;
  /** The beginning of a chunk, or of the response head, whose rest has not come yet. */
  #rest: Buffer | undefined;

  /**
   * @param accept media type of the response
   * @param offers whether the server may compress it. Reading it costs the process much more
   */
  constructor(
    endpoint: { host: string; port: number },
    localAddress: string,
    receiver: Receiver,
    accept: string,
    payload: object,
    offers = false,
  ) {
    this.#receiver = receiver;
    this.#socket = connect({
      ...endpoint,
      localAddress,
      noDelay: true,
      onread: { buffer: SHARED, callback: (length) => this.#read(length) },
    });
    this.#socket.write(requestOf(accept, JSON.stringify(payload), offers));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => receiver.ended(this.#acknowledged ? 'terminated' : 'refused'));
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(length: number): boolean {
    this.#receiver.read?.(length);
    if (this.#rest === undefined) {
      this.#take(SHARED, length);
    } else {
      const bytes = Buffer.concat([this.#rest, SHARED.subarray(0, length)]);
      this.#rest = undefined;
      this.#take(bytes, bytes.length);
    }
    return true;
  }

  #take(bytes: Buffer, end: number): void {
    let at = this.#acknowledged ? 0 : this.#head(bytes, end);
    while (this.#acknowledged && at < end) {
      const lineEnd = bytes.subarray(0, end).indexOf(LINE_END, at);
      if (lineEnd === -1) break;
      const start = lineEnd + LINE_END.length;
      const chunkEnd = start + Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
      if (chunkEnd + LINE_END.length > end) break;
      this.#chunk(bytes, start, chunkEnd);
      at = chunkEnd + LINE_END.length;
    }
    if (at < end) this.#rest = Buffer.from(bytes.subarray(at, end));
  }

  /** The blocks of a chunk refer to nothing before it, as Sluice writes them. */
  #chunk(bytes: Buffer, start: number, end: number): void {
    if (!this.#isGzip) {
      this.#receiver.text(bytes, start, end);
      return;
    }
    const isFirst = bytes.readUInt16BE(start) === GZIP_MAGIC;
    const blocks = bytes.subarray(isFirst ? start + GZIP_HEADER_BYTES : start, end);
    const text = inflateRawSync(blocks, { finishFlush: constants.Z_SYNC_FLUSH });
    this.#receiver.text(text, 0, text.length);
  }

  /** @returns where the first chunk begins; 0 if the head is not complete */
  #head(bytes: Buffer, end: number): number {
    const headEnd = bytes.subarray(0, end).indexOf(HEAD_END);
    if (headEnd === -1) return 0;
    if (!bytes.toString('latin1', 0, 12).endsWith('200')) {
      this.#socket.destroy();
      return end;
    }
    this.#acknowledged = true;
    this.#isGzip = /\r\ncontent-encoding: gzip(\r\n|$)/i.test(bytes.toString('latin1', 0, headEnd));
    this.#receiver.acknowledged();
    return headEnd + HEAD_END.length;
  }
}

function requestOf(accept: string, body: string, offers: boolean): string {
  return [
    'POST /graphql HTTP/1.1',
    'Host: 127.0.0.1',
    `Accept: ${accept}`,
    `Accept-Encoding: ${offers ? 'gzip' : 'identity'}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `\r\n${body}`,
  ].join('\r\n');
}
