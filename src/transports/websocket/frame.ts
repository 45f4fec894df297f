import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { FramedResult, FrameFormat } from '../delivery/frame-format.ts';

/**
 * A `next` message of graphql-transport-ws as one WebSocket frame. Except for the id, it is the same for all subscribers
 * with ids of the same length:
 *
 *     ┌────────┬────────────┬──────────────┬─────────┬────┬─────────────────┐
 *     │ header │ {"payload":│ {"data":{…}} │ ,"id":" │ id │ ","type":"next"}│
 *     └────────┴────────────┴──────────────┴─────────┴────┴─────────────────┘
 *
 * Frames from a server are not masked (RFC 6455, 5.1), so the bytes on the wire are these.
 */

/** FIN, text. */
const TEXT_FRAME = 0x81;
/** FIN, RSV1, text: the message is compressed (RFC 7692). */
const COMPRESSED_FRAME = 0xc1;
const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;

const OPENING = Buffer.from('{"payload":');
const BEFORE_ID = Buffer.from(',"id":"');

const PRINTABLE_ASCII = /^[ !#-[\]-~]*$/;
const NOT_ASCII = /[^ -~]/g;

/**
 * An id as written between the quotes, in ASCII only, so it has as many bytes as characters. If nothing needs escaping, it
 * is the same string, which costs no memory.
 */
export function idText(id: string): string {
  if (PRINTABLE_ASCII.test(id)) return id;
  return JSON.stringify(id)
    .slice(1, -1)
    .replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The frames of one subprotocol; the type is that of its messages for results. */
class MessageFrames implements FrameFormat {
  readonly afterId: Buffer;
  /** The bytes of a message without the result and the id. */
  readonly #fixedBytes: number;

  constructor(type: string) {
    this.afterId = Buffer.from(`","type":"${type}"}`);
    this.#fixedBytes = OPENING.length + BEFORE_ID.length + this.afterId.length;
  }

  length({ json }: FramedResult, idLength: number): number {
    const length = this.#fixedBytes + json.length + idLength;
    return headerLength(length) + length;
  }

  write(target: Buffer, at: number, { json }: FramedResult, idLength: number): number {
    let end = writeHeader(target, at, TEXT_FRAME, this.#fixedBytes + json.length + idLength);
    end += OPENING.copy(target, end);
    end += json.copy(target, end);
    end += BEFORE_ID.copy(target, end);
    this.afterId.copy(target, end + idLength);
    return end;
  }

  pieces({ json }: FramedResult, id: string): Buffer[] {
    const length = this.#fixedBytes + json.length + id.length;
    const beginning = Buffer.allocUnsafe(headerLength(length) + OPENING.length);
    OPENING.copy(beginning, writeHeader(beginning, 0, TEXT_FRAME, length));
    return [beginning, json, Buffer.concat([BEFORE_ID, Buffer.from(id, 'latin1'), this.afterId])];
  }
}

/** The frames of graphql-transport-ws. */
const NEXT = new MessageFrames('next');
export const NEXT_FRAMES: FrameFormat = NEXT;

/** The frames of subscriptions-transport-ws. */
const DATA = new MessageFrames('data');
export const DATA_FRAMES: FrameFormat = DATA;

/** A stored block of DEFLATE: its type and padding, its length, and the complement of that. The length has 16 bits. */
const STORED_HEADER_BYTES = 5;
const MOST_STORED_BYTES = 0xffff;

/** The type and padding of the empty stored block at a message's end. The receiver adds the rest of the block (RFC 7692, 7.2.2). */
const END = Buffer.from([0]);

/** Larger results would hold the event loop for too long, even with little compression. */
const MOST_COMPRESSED_BYTES = 256 * 1024;

/** Results above it are compressed faster, and somewhat less. */
const LARGE_BYTES = 8 * 1024;

/** A result that gets less short is not worth the memory of both forms while it waits. */
const MOST_OF_RESULT = 0.75;

/**
 * Frames for clients that offer permessage-deflate. A result is compressed once for all subscribers, as blocks that end on a
 * byte; the id follows in a block that is stored:
 *
 *     ┌────────┬──────────────────────────────────┬──────────────┬────┬──────────────────┬─────┐
 *     │ header │ {"payload":{"data":{…}},"id":"   │ block header │ id │ ","type":"next"} │ end │
 *     └────────┴──────────────────────────────────┴──────────────┴────┴──────────────────┴─────┘
 *               compressed
 *
 * A block refers to nothing before its message, so no memory is needed for a socket.
 */
class CompressedFrames implements FrameFormat {
  readonly #plain: MessageFrames;
  readonly #minBytes: number;
  /** The bytes of a message without the compressed part and the id. */
  readonly #fixedBytes: number;

  constructor(plain: MessageFrames, minBytes: number) {
    this.#plain = plain;
    this.#minBytes = minBytes;
    this.#fixedBytes = STORED_HEADER_BYTES + plain.afterId.length + END.length;
  }

  length(result: FramedResult, idLength: number): number {
    const compressed = this.#compressed(result, idLength);
    if (compressed === undefined) return this.#plain.length(result, idLength);
    const length = this.#fixedBytes + compressed.length + idLength;
    return headerLength(length) + length;
  }

  held(result: FramedResult, idLength: number): number {
    return this.#plain.length(result, idLength);
  }

  write(target: Buffer, at: number, result: FramedResult, idLength: number): number {
    const compressed = this.#compressed(result, idLength);
    if (compressed === undefined) return this.#plain.write(target, at, result, idLength);
    const { afterId } = this.#plain;
    let end = writeHeader(target, at, COMPRESSED_FRAME, this.#fixedBytes + compressed.length + idLength);
    end += compressed.copy(target, end);
    end = writeStoredHeader(target, end, idLength + afterId.length);
    afterId.copy(target, end + idLength);
    END.copy(target, end + idLength + afterId.length);
    return end;
  }

  pieces(result: FramedResult, id: string): Buffer[] {
    const compressed = this.#compressed(result, id.length);
    if (compressed === undefined) return this.#plain.pieces(result, id);
    const { afterId } = this.#plain;
    const length = this.#fixedBytes + compressed.length + id.length;
    const header = Buffer.allocUnsafe(headerLength(length));
    writeHeader(header, 0, COMPRESSED_FRAME, length);
    const stored = Buffer.allocUnsafe(STORED_HEADER_BYTES);
    writeStoredHeader(stored, 0, id.length + afterId.length);
    return [header, compressed, Buffer.concat([stored, Buffer.from(id, 'latin1'), afterId, END])];
  }

  #compressed(result: FramedResult, idLength: number): Buffer | undefined {
    const { length } = result.json;
    if (length < this.#minBytes || length > MOST_COMPRESSED_BYTES) return undefined;
    if (idLength + this.#plain.afterId.length > MOST_STORED_BYTES) return undefined;
    return result.compressed?.(deflated);
  }
}

/** Returns the frames of these formats for clients that offer compression. @param minBytes of a result that is compressed */
export function compressedFormats(minBytes: number): ReadonlyMap<FrameFormat, FrameFormat> {
  return new Map([NEXT, DATA].map((plain) => [plain, new CompressedFrames(plain, minBytes)]));
}

/** Returns a result with what stands before and behind it, up to the id, compressed; undefined if too little is gained. */
function deflated(json: Buffer): Buffer | undefined {
  const bytes = deflateRawSync(Buffer.concat([OPENING, json, BEFORE_ID]), {
    level: json.length > LARGE_BYTES ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  if (bytes.length > MOST_OF_RESULT * json.length) return undefined;
  // Node.js has written it into a larger buffer, which it would keep in memory.
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

function writeStoredHeader(target: Buffer, at: number, length: number): number {
  target[at] = 0;
  target.writeUInt16LE(length, at + 1);
  target.writeUInt16LE(~length & MOST_STORED_BYTES, at + 3);
  return at + STORED_HEADER_BYTES;
}

/** The messages in bytes that hold whole frames. */
export function* messagesIn(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const short = bytes.readUInt8(at + 1);
    let length = short;
    if (short === LENGTH_IN_16_BITS) length = bytes.readUInt16BE(at + 2);
    if (short === LENGTH_IN_64_BITS) length = Number(bytes.readBigUInt64BE(at + 2));
    const begin = at + headerLength(length);
    const isCompressed = bytes[at] === COMPRESSED_FRAME;
    at = begin + length;
    const message = bytes.subarray(begin, at);
    yield isCompressed ? inflateRawSync(message, { finishFlush: constants.Z_SYNC_FLUSH }) : message;
  }
}

function headerLength(length: number): number {
  if (length < LENGTH_IN_16_BITS) return 2;
  return length <= 0xffff ? 4 : 10;
}

/** @param opcode with the bits before it @returns where the message begins */
function writeHeader(target: Buffer, at: number, opcode: number, length: number): number {
  target[at] = opcode;
  if (length < LENGTH_IN_16_BITS) {
    target[at + 1] = length;
  } else if (length <= 0xffff) {
    target[at + 1] = LENGTH_IN_16_BITS;
    target.writeUInt16BE(length, at + 2);
  } else {
    target[at + 1] = LENGTH_IN_64_BITS;
    target.writeBigUInt64BE(BigInt(length), at + 2);
  }
  return at + headerLength(length);
}
