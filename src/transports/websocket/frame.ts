import { constants, inflateRawSync } from 'node:zlib';
import {
  compressedJson,
  MOST_STORED_BYTES,
  storedBlocks,
  STORED_HEADER_BYTES,
  writeStoredHeader,
} from '../delivery/deflate.ts';
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

const STORED_OPENING = Buffer.concat(storedBlocks(OPENING));

/** The type and padding of the empty stored block at a message's end. The receiver adds the rest of the block (RFC 7692, 7.2.2). */
const END = Buffer.from([0]);

/**
 * Frames for clients that offer permessage-deflate. A result is compressed once for all subscribers; what is around it, with
 * the id, is stored:
 *
 *     ┌────────┬──────────────┬────────────┬────────────┬──────────────┬─────────┬────┬──────────────────┬─────┐
 *     │ header │ block header │ {"payload":│ compressed │ block header │ ,"id":" │ id │ ","type":"next"} │ end │
 *     └────────┴──────────────┴────────────┴────────────┴──────────────┴─────────┴────┴──────────────────┴─────┘
 */
class CompressedFrames implements FrameFormat {
  readonly #plain: MessageFrames;
  readonly #minBytes: number;
  /** The bytes of a message without the compressed part and the id. */
  readonly #fixedBytes: number;

  constructor(plain: MessageFrames, minBytes: number) {
    this.#plain = plain;
    this.#minBytes = minBytes;
    const { length } = plain.afterId;
    this.#fixedBytes = STORED_OPENING.length + STORED_HEADER_BYTES + BEFORE_ID.length + length + END.length;
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
    end += STORED_OPENING.copy(target, end);
    end += compressed.copy(target, end);
    end = writeStoredHeader(target, end, BEFORE_ID.length + idLength + afterId.length);
    end += BEFORE_ID.copy(target, end);
    afterId.copy(target, end + idLength);
    END.copy(target, end + idLength + afterId.length);
    return end;
  }

  pieces(result: FramedResult, id: string): Buffer[] {
    const compressed = this.#compressed(result, id.length);
    if (compressed === undefined) return this.#plain.pieces(result, id);
    const length = this.#fixedBytes + compressed.length + id.length;
    const header = Buffer.allocUnsafe(headerLength(length));
    writeHeader(header, 0, COMPRESSED_FRAME, length);
    const behind = Buffer.concat([BEFORE_ID, Buffer.from(id, 'latin1'), this.#plain.afterId]);
    return [header, STORED_OPENING, compressed, ...storedBlocks(behind), END];
  }

  #compressed(result: FramedResult, idLength: number): Buffer | undefined {
    if (BEFORE_ID.length + idLength + this.#plain.afterId.length > MOST_STORED_BYTES) return undefined;
    return compressedJson(result, this.#minBytes);
  }
}

/** Returns the frames of these formats for clients that offer compression. @param minBytes of a result that is compressed */
export function compressedFormats(minBytes: number): ReadonlyMap<FrameFormat, FrameFormat> {
  return new Map([NEXT, DATA].map((plain) => [plain, new CompressedFrames(plain, minBytes)]));
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
