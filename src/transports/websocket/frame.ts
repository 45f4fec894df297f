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
  readonly #afterId: Buffer;
  /** The bytes of a message without the result and the id. */
  readonly #fixedBytes: number;

  constructor(type: string) {
    this.#afterId = Buffer.from(`","type":"${type}"}`);
    this.#fixedBytes = OPENING.length + BEFORE_ID.length + this.#afterId.length;
  }

  length({ json }: FramedResult, idLength: number): number {
    const length = this.#fixedBytes + json.length + idLength;
    return headerLength(length) + length;
  }

  write(target: Buffer, at: number, { json }: FramedResult, idLength: number): number {
    let end = writeHeader(target, at, this.#fixedBytes + json.length + idLength);
    end += OPENING.copy(target, end);
    end += json.copy(target, end);
    end += BEFORE_ID.copy(target, end);
    this.#afterId.copy(target, end + idLength);
    return end;
  }

  pieces({ json }: FramedResult, id: string): Buffer[] {
    const length = this.#fixedBytes + json.length + id.length;
    const beginning = Buffer.allocUnsafe(headerLength(length) + OPENING.length);
    OPENING.copy(beginning, writeHeader(beginning, 0, length));
    return [beginning, json, Buffer.concat([BEFORE_ID, Buffer.from(id, 'latin1'), this.#afterId])];
  }
}

/** The frames of graphql-transport-ws. */
export const NEXT_FRAMES: FrameFormat = new MessageFrames('next');

/** The frames of subscriptions-transport-ws. */
export const DATA_FRAMES: FrameFormat = new MessageFrames('data');

/** The messages in bytes that hold whole frames. */
export function* messagesIn(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const short = bytes.readUInt8(at + 1);
    let length = short;
    if (short === LENGTH_IN_16_BITS) length = bytes.readUInt16BE(at + 2);
    if (short === LENGTH_IN_64_BITS) length = Number(bytes.readBigUInt64BE(at + 2));
    const begin = at + headerLength(length);
    at = begin + length;
    yield bytes.subarray(begin, at);
  }
}

function headerLength(length: number): number {
  if (length < LENGTH_IN_16_BITS) return 2;
  return length <= 0xffff ? 4 : 10;
}

/** @returns where the message begins */
function writeHeader(target: Buffer, at: number, length: number): number {
  target[at] = TEXT_FRAME;
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
