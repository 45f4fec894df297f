import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { decompressFrameSync } from 'lz4-napi';
import { uncompressSync } from 'snappy';

/**
 * Most bytes that one record batch may become. Brokers bound a batch to about 1 MB compressed; without a bound here, one
 * that was made for it would take the memory of the pod. (LZ4 makes at most 255 bytes of one.)
 */
export const MAX_BYTES = 64 * 1024 * 1024;

/** Begins snappy of Java clients: frames of their own, each a length (32 bits) and a block. librdkafka sends one block. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

const gunzip = promisify(zlib.gunzip);

/** Node.js has it from 22.15 on. */
const nativeZstd = (
  zlib as { zstdDecompressSync?: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer }
).zstdDecompressSync;

export const decompressGzip = (bytes: Buffer): Promise<Buffer> =>
  gunzip(bytes, { maxOutputLength: MAX_BYTES });

export const decompressLz4 = (bytes: Buffer): Buffer => decompressFrameSync(bytes);

/** @throws Error for anything that is not snappy, or too large */
export function decompressSnappy(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return snappyBlock(bytes, MAX_BYTES);
  const blocks: Buffer[] = [];
  let left = MAX_BYTES;
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new RangeError('a block of snappy ends past its batch');
    const block = snappyBlock(bytes.subarray(at + 4, end), left);
    left -= block.length;
    blocks.push(block);
    at = end;
  }
  return Buffer.concat(blocks);
}

/** @throws Error for anything that is not zstd, or too large */
export function decompressZstd(bytes: Buffer): Buffer {
  return nativeZstd === undefined ? portableZstd(bytes) : nativeZstd(bytes, { maxOutputLength: MAX_BYTES });
}

/** Before Node.js 22.15, in JavaScript. */
export function portableZstd(bytes: Buffer): Buffer {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const stream = new Decompress((piece) => {
    length += piece.length;
    if (length > MAX_BYTES) throw tooLarge();
    pieces.push(piece);
  });
  stream.push(bytes, true);
  return Buffer.concat(pieces, length);
}

/** A snappy block begins with the length of what it holds. */
function snappyBlock(bytes: Buffer, maxBytes: number): Buffer {
  let length = 0;
  for (let at = 0, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at];
    if (byte === undefined || shift > 28)
      throw new RangeError('expected a block of snappy, got something else');
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  if (length > maxBytes) throw tooLarge();
  return uncompressSync(bytes) as Buffer;
}

function tooLarge(): RangeError {
  return new RangeError(`expected a record batch of at most ${MAX_BYTES} bytes, got a larger one`);
}
