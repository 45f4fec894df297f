import { constants, deflateRawSync } from 'node:zlib';
import type { FramedResult } from './frame-format.ts';

/** A stored block of DEFLATE: its type and padding, its length, and the complement of that. The length has 16 bits. */
export const STORED_HEADER_BYTES = 5;
export const MOST_STORED_BYTES = 0xffff;

/** An empty block. Go's clients hand over what came before a block only once they have read one that is empty. */
export const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** Larger results would hold the event loop for too long, even with little compression. */
const MOST_COMPRESSED_BYTES = 256 * 1024;

/** Results above it are compressed faster, and somewhat less. */
const LARGE_BYTES = 8 * 1024;

/** A result that gets less short is not worth the memory of both forms while it waits. */
const MOST_OF_RESULT = 0.75;

/**
 * The JSON of a result in blocks of DEFLATE, made once for all subscribers of all wires. The blocks end on a byte and refer
 * to nothing before them, so any others may stand around them, and no socket needs memory for them.
 *
 * @param minBytes of a result that is compressed
 * @returns undefined if the result is sent as it is
 */
export function compressedJson(result: FramedResult, minBytes: number): Buffer | undefined {
  const { length } = result.json;
  if (length < minBytes || length > MOST_COMPRESSED_BYTES) return undefined;
  return result.compressed?.(deflated);
}

function deflated(json: Buffer): Buffer | undefined {
  const bytes = deflateRawSync(json, {
    level: json.length > LARGE_BYTES ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  if (bytes.length > MOST_OF_RESULT * json.length) return undefined;
  // Node.js has written it into a larger buffer, which it would keep in memory.
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** Writes the header of a stored block, which more blocks follow. @returns where its bytes begin */
export function writeStoredHeader(target: Buffer, at: number, length: number): number {
  target[at] = 0;
  target.writeUInt16LE(length, at + 1);
  target.writeUInt16LE(~length & MOST_STORED_BYTES, at + 3);
  return at + STORED_HEADER_BYTES;
}

/** The bytes of `storedBlocks` for so many. */
export function storedLength(length: number): number {
  return length + STORED_HEADER_BYTES * Math.ceil(length / MOST_STORED_BYTES);
}

/** Returns bytes in stored blocks, as pieces that do not copy them. */
export function storedBlocks(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += MOST_STORED_BYTES) {
    const part = bytes.subarray(at, at + MOST_STORED_BYTES);
    const header = Buffer.allocUnsafe(STORED_HEADER_BYTES);
    writeStoredHeader(header, 0, part.length);
    blocks.push(header, part);
  }
  return blocks;
}
