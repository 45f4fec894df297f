import { connect, type Socket } from 'node:net';
import { constants, inflateRawSync } from 'node:zlib';
import {
  CLOSE,
  CLOSE_FRAME,
  COMPRESSED,
  frameAt,
  PING,
  pongFrame,
  TEXT,
  textFrame,
} from './websocket-frames.ts';

const HANDSHAKE = [
  'Host: 127.0.0.1',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: c2x1aWNlIGxvYWQgdGVzdA==\r\n',
].join('\r\n');

const OFFER = 'Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n';

const MESSAGE_END = 0x0a;

const HEAD_END = Buffer.from('\r\n\r\n');

/** All sockets of a process read into this buffer in turn: bytes that are kept are copied. */
const SHARED = Buffer.allocUnsafe(256 * 1024);

/** Handles the messages of one client. No method may throw. */
export interface Receiver {
  acknowledged(): void;
  /** Counts bytes that the socket has read. Absent: they are not counted. */
  read?(bytes: number): void;
  /** Takes a `next`, or any other message after the acknowledgement: one text frame, valid during the call. */
  text(bytes: Buffer, start: number, end: number): void;
  /** @param ending close code; `terminated` if the connection broke without one; `refused` before it was acknowledged */
  ended(ending: string): void;
}

/** What a server expects over its WebSockets, and sends, before and beside results. */
export interface Dialect {
  readonly path: string;
  readonly subprotocol?: string;
  /** Whether the server may compress results. Reading them costs the process much more. */
  readonly offersCompression?: boolean;
  readonly opening: object;
  /** Whether this message lets the client in. */
  admits(message: string): boolean;
  /** A message that has to be answered with itself. */
  readonly ping?: string;
  /** Whether a frame may hold several messages, one a line. */
  readonly inLines?: boolean;
}

const GRAPHQL: Dialect = {
  path: '/graphql',
  subprotocol: 'graphql-transport-ws',
  opening: { type: 'connection_init' },
  admits: (message) => (JSON.parse(message) as { type: string }).type === 'connection_ack',
};

/** The dialect of graphql-transport-ws, and of other subprotocols with the same beginning. */
export const graphqlOver = (subprotocol: string, offersCompression = false): Dialect => ({
  ...GRAPHQL,
  subprotocol,
  offersCompression,
});

/** A client that looks at frames, not into them, and so costs its process next to nothing. */
export class RawClient {
  readonly #socket: Socket;
  readonly #receiver: Receiver;
  readonly #dialect: Dialect;
  #upgraded = false;
  #acknowledged = false;
  /** The beginning of a frame, or of the response head, whose rest has not come yet. */
  #rest: Buffer | undefined;
  #code: string | undefined;

  /** @param localAddress ports are counted for each pair of addresses: thousands of clients need several addresses */
  constructor(
    endpoint: { host: string; port: number },
    localAddress: string,
    receiver: Receiver,
    dialect = GRAPHQL,
  ) {
    this.#receiver = receiver;
    this.#dialect = dialect;
    this.#socket = connect({
      ...endpoint,
      localAddress,
      noDelay: true,
      onread: { buffer: SHARED, callback: (length) => this.#read(length) },
    });
    const { path, subprotocol, offersCompression = false } = dialect;
    const asked = subprotocol === undefined ? '' : `Sec-WebSocket-Protocol: ${subprotocol}\r\n`;
    const offer = offersCompression ? OFFER : '';
    this.#socket.write(`GET ${path} HTTP/1.1\r\n${HANDSHAKE}${asked}${offer}\r\n`);
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      receiver.ended(this.#code ?? (this.#acknowledged ? 'terminated' : 'refused'));
    });
  }

  send(message: object): void {
    this.#socket.write(textFrame(JSON.stringify(message)));
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes the connection by the protocol's handshake. */
  close(): void {
    this.#socket.write(CLOSE_FRAME);
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
    let at = this.#upgraded ? 0 : this.#head(bytes, end);
    while (at < end) {
      const frame = frameAt(bytes, at, end);
      if (frame === undefined || frame.end > end) break;
      this.#frame(bytes[at] ?? 0, bytes, frame.start, frame.end);
      at = frame.end;
    }
    if (at < end) this.#rest = Buffer.from(bytes.subarray(at, end));
  }

  /** @returns where the first frame begins; 0 if the head is not complete */
  #head(bytes: Buffer, end: number): number {
    const headEnd = bytes.subarray(0, end).indexOf(HEAD_END);
    if (headEnd === -1) return 0;
    if (!bytes.toString('latin1', 0, 12).endsWith('101')) {
      this.#socket.destroy();
      return end;
    }
    this.#upgraded = true;
    this.send(this.#dialect.opening);
    return headEnd + HEAD_END.length;
  }

  #frame(opcode: number, bytes: Buffer, start: number, end: number): void {
    if (opcode === TEXT) {
      this.#text(bytes, start, end);
    } else if (opcode === COMPRESSED) {
      const text = inflateRawSync(bytes.subarray(start, end), { finishFlush: constants.Z_SYNC_FLUSH });
      this.#frame(TEXT, text, 0, text.length);
    } else if (opcode === PING) {
      this.#socket.write(pongFrame(bytes.subarray(start, end)));
    } else if (opcode === CLOSE) {
      this.#code = end - start >= 2 ? String(bytes.readUInt16BE(start)) : '1005';
      this.#socket.end();
    }
  }

  #text(bytes: Buffer, start: number, end: number): void {
    const { inLines = false, ping } = this.#dialect;
    let to = inLines ? bytes.subarray(0, end).indexOf(MESSAGE_END, start) : -1;
    if (to === -1) to = end;
    if (to - start === ping?.length && bytes.toString('latin1', start, to) === ping) {
      this.#socket.write(textFrame(ping));
    } else if (this.#acknowledged) {
      this.#receiver.text(bytes, start, to);
    } else {
      this.#acknowledge(bytes.toString('utf8', start, to));
    }
    if (to + 1 < end) this.#text(bytes, to + 1, end);
  }

  #acknowledge(text: string): void {
    if (!this.#dialect.admits(text)) {
      this.#socket.destroy();
      return;
    }
    this.#acknowledged = true;
    this.#receiver.acknowledged();
  }
}
