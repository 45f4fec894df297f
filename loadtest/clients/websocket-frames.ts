/** WebSocket frames (RFC 6455, 5.2) on the client's side: unmasked from the server, masked to the server. */

export const TEXT = 0x81;
/** Text that the server has compressed (RFC 7692). */
export const COMPRESSED = 0xc1;
export const CLOSE = 0x88;
export const PING = 0x89;
const PONG = 0x8a;

const MASKED = 0x80;
const MASK = Buffer.alloc(4);

/** Returns where the payload of the frame at `at` begins and ends; undefined if its header is not complete. */
export function frameAt(
  bytes: Buffer,
  at: number,
  end: number,
): { readonly start: number; readonly end: number } | undefined {
  if (end - at < 2) return undefined;
  const short = bytes[at + 1] ?? 0;
  if (short < 126) return { start: at + 2, end: at + 2 + short };
  if (short === 126) {
    if (end - at < 4) return undefined;
    return { start: at + 4, end: at + 4 + bytes.readUInt16BE(at + 2) };
  }
  if (end - at < 10) return undefined;
  return { start: at + 10, end: at + 10 + Number(bytes.readBigUInt64BE(at + 2)) };
}

/** The mask is zero, which leaves the payload as it is. */
export function textFrame(text: string): Buffer {
  return frame(TEXT, Buffer.from(text));
}

export function pongFrame(payload: Buffer): Buffer {
  return frame(PONG, payload);
}

function frame(opcode: number, payload: Buffer): Buffer {
  if (payload.length > 0xffff) throw new RangeError(`expected at most 65,535 bytes, got ${payload.length}`);
  const header =
    payload.length < 126
      ? Buffer.of(opcode, MASKED | payload.length)
      : Buffer.of(opcode, MASKED | 126, payload.length >> 8, payload.length & 0xff);
  return Buffer.concat([header, MASK, payload]);
}

const NORMAL_CLOSURE = Buffer.of(1000 >> 8, 1000 & 0xff);

/** Starts the closing handshake. */
export const CLOSE_FRAME = frame(CLOSE, NORMAL_CLOSURE);
