import type { Random } from '../helpers/random.ts';

/** A WebSocket frame of a client, right or wrong (RFC 6455, section 5.2). */
export interface FrameOptions {
  readonly opcode?: number;
  readonly isFinal?: boolean;
  /** The reserved bits, 0 to 7. */
  readonly reserved?: number;
  readonly isMasked?: boolean;
  /** The length in the head; absent: the length of the payload. */
  readonly announced?: number;
}

const TEXT = 1;

export function frame(payload: Buffer | string, options: FrameOptions = {}): Buffer {
  const { opcode = TEXT, isFinal = true, reserved = 0, isMasked = true } = options;
  const bytes = Buffer.from(payload as string);
  const { announced = bytes.length } = options;
  const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);
  const head = Buffer.alloc(2 + lengthBytes(announced));
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const maskBit = isMasked ? 0x80 : 0;
  if (announced < 126) head[1] = maskBit | announced;
  else if (announced < 65_536) {
    head[1] = maskBit | 126;
    head.writeUInt16BE(announced, 2);
  } else {
    head[1] = maskBit | 127;
    head.writeBigUInt64BE(BigInt(announced), 2);
  }
  if (!isMasked) return Buffer.concat([head, bytes]);
  return Buffer.concat([head, mask, bytes.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

/** Frames that a client with a correct implementation never sends. */
export function oddFrames(random: Random): Buffer {
  const payload = random.pick(['', 'x', '{"type":"ping"}', Buffer.from([0xff, 0xfe]), 'y'.repeat(200)]);
  return random.pick<() => Buffer>([
    () => frame(payload, { opcode: random.between(3, 15) }),
    () => frame(payload, { reserved: random.between(1, 7) }),
    () => frame(payload, { isMasked: false }),
    () => frame(payload, { announced: random.pick([0, 5, 70_000, 2 ** 40, 2 ** 52]) }),
    () => frame(payload, { isFinal: false }),
    // A message in many pieces, with a ping between them.
    () =>
      Buffer.concat([
        frame('{"type":', { isFinal: false }),
        frame('', { opcode: 9 }),
        ...Array.from({ length: random.between(0, 300) }, () => frame('', { opcode: 0, isFinal: false })),
        frame('"ping"}', { opcode: 0 }),
      ]),
    () => frame(payload, { opcode: 0 }),
    // Close frames without a code, with half a code, with a forbidden code, and with a reason that is no text.
    () => frame(random.pick(['', '\u0003', '\u0003\u00ec', Buffer.from([0x03, 0xe8, 0xff])]), { opcode: 8 }),
    () => Buffer.concat(Array.from({ length: random.between(1, 500) }, () => frame('p', { opcode: 9 }))),
    () => frame('p'.repeat(200), { opcode: 9 }),
    () => Buffer.from(Array.from({ length: random.between(1, 400) }, () => random.between(0, 255))),
  ])();
}

/** A message without an end: one long frame, or more and more short ones. */
export function unfinished(random: Random): Buffer {
  const bytes = random.between(1, 60_000);
  if (random.chance(0.5)) return frame('x'.repeat(bytes), { announced: 64_000 });
  const more = Array.from({ length: random.between(1, 300) }, () =>
    frame('x', { opcode: 0, isFinal: false }),
  );
  return Buffer.concat([frame('{', { isFinal: false }), ...more]);
}

function lengthBytes(length: number): number {
  return length < 126 ? 0 : length < 65_536 ? 2 : 8;
}
