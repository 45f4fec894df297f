/**
 * A `next` message of graphql-transport-ws as one WebSocket frame. All but the id is the same for all subscribers whose
 * ids have the same length:
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
const AFTER_ID = Buffer.from('","type":"next"}');
const FIXED_BYTES = OPENING.length + BEFORE_ID.length + AFTER_ID.length;

const PRINTABLE_ASCII = /^[ !#-[\]-~]*$/;
const NOT_ASCII = /[^ -~]/g;

/**
 * An id as it stands between the quotes, in ASCII only: then it has as many bytes as characters. It is the same string
 * where nothing needs to be escaped, so that keeping it costs nothing.
 */
export function idText(id: string): string {
  if (PRINTABLE_ASCII.test(id)) return id;
  return JSON.stringify(id)
    .slice(1, -1)
    .replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Bytes of a whole frame. */
export function frameLength(jsonLength: number, idLength: number): number {
  const length = FIXED_BYTES + jsonLength + idLength;
  return headerLength(length) + length;
}

/** Writes one frame but for its id. @returns where the id goes */
export function writeFrame(target: Buffer, at: number, json: Buffer, idLength: number): number {
  let end = writeHeader(target, at, FIXED_BYTES + json.length + idLength);
  end += OPENING.copy(target, end);
  end += json.copy(target, end);
  end += BEFORE_ID.copy(target, end);
  AFTER_ID.copy(target, end + idLength);
  return end;
}

/** Writes an id of ASCII. A loop, since native calls cost more for ids of ordinary length. */
export function writeId(target: Buffer, at: number, id: string): void {
  for (let index = 0; index < id.length; index += 1) target[at + index] = id.charCodeAt(index);
}

/** One frame in three buffers, around a result that is too large to be copied for each subscriber. */
export function framePieces(json: Buffer, id: string): Buffer[] {
  const length = FIXED_BYTES + json.length + id.length;
  const beginning = Buffer.allocUnsafe(headerLength(length) + OPENING.length);
  OPENING.copy(beginning, writeHeader(beginning, 0, length));
  return [beginning, json, Buffer.concat([BEFORE_ID, Buffer.from(id, 'latin1'), AFTER_ID])];
}

/** The messages in bytes that hold whole frames of `writeFrame`. */
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
