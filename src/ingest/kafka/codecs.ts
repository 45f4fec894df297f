import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { decompressFrameSync } from 'lz4-napi';
import { uncompressSync } from 'snappy';

/**
 * Most bytes that the record batches of one fetch may become together, and so each of them. Brokers bound a batch to about
 * 1 MB compressed; without a bound here, batches that were made for it would take the memory of the pod.
 */
const MAX_BYTES = 64 * 1024 * 1024;

/** A record takes so much beside its bytes, as objects: a batch of 64 MiB could hold millions of empty ones. */
const RECORD_BYTES = 1_024;

/** So many records are decoded in one turn of the event loop. */
export const RECORDS_PER_TURN = 4_096;

/** A batch that becomes larger has a turn of the event loop to itself. */
const SMALL_BYTES = 2 * 1024 * 1024;

/** Begins snappy of Java clients: frames of their own, each a length (32 bits) and a block. librdkafka sends one block. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/*
 *   magic   flags   block size (bits 4 to 6)   content size   checksum   blocks: length, data, checksum   0
 *   0       4       5                          6, if any      1 byte
 */
const LZ4_MAGIC = 0x184d2204;
const LZ4_BLOCK_CHECKSUM = 1 << 4;
const LZ4_CONTENT_SIZE = 1 << 3;
const LZ4_CONTENT_CHECKSUM = 1 << 2;
const LZ4_DICTIONARY = 1 << 0;
const LZ4_UNCOMPRESSED = 2 ** 31;
/** A byte of a block becomes so many at most. */
const LZ4_RATIO = 255;

/** Compressed bytes of a piece of zstd, where Node.js has none of its own: four may become 128 KiB. */
const ZSTD_PIECE = { least: 256, most: 16 * 1024 };

/** A record batch that is larger than any may be: it can't be read later either. */
export class BatchTooLarge extends RangeError {
  constructor() {
    super(
      `expected a record batch of at most ${MAX_BYTES} bytes, ${RECORD_BYTES} more for each record, got a larger one`,
    );
  }
}

/** @throws BatchTooLarge where it would become more than `most` bytes; Error for what is of another codec or damaged */
type Codec = (bytes: Buffer, most: number) => Promise<Buffer>;

const gunzip = promisify(zlib.gunzip);

/** Node.js has it from 22.15 on. */
const { zstdDecompress } = zlib as {
  zstdDecompress?: (
    bytes: Buffer,
    options: { maxOutputLength: number },
    done: (error: Error | null, result: Buffer) => void,
  ) => void;
};

const decompressGzip: Codec = (bytes, most) => gunzip(bytes, { maxOutputLength: most }).catch(toTooLarge);

const decompressLz4: Codec = async (bytes, most) => {
  const { end, bytes: unpacked } = lz4Frame(bytes);
  if (unpacked > most) throw new BatchTooLarge();
  const frame = bytes.subarray(0, end);
  if (unpacked > SMALL_BYTES) await nextTurn();
  // Not decompressFrame, which leaves all that it has made in memory, as does uncompress of snappy. The garbage collector
  // does not know how large a native buffer is: it knows of the copy.
  return Buffer.from(decompressFrameSync(frame));
};

const decompressSnappy: Codec = async (bytes, most) => {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return snappyBlock(bytes, most);
  const blocks: Buffer[] = [];
  let left = most;
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new RangeError('a block of snappy ends past its batch');
    const block = await snappyBlock(bytes.subarray(at + 4, end), left);
    left -= block.length;
    blocks.push(block);
    at = end;
  }
  return Buffer.concat(blocks);
};

/** Before Node.js 22.15, in JavaScript. */
export const portableZstd: Codec = async (bytes, most) => {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const stream = new Decompress((piece) => {
    length += piece.length;
    if (length > most) throw new BatchTooLarge();
    pieces.push(piece);
  });
  let size = ZSTD_PIECE.least;
  for (let at = 0; at < bytes.length;) {
    const before = length;
    const end = at + size;
    stream.push(bytes.subarray(at, end), end >= bytes.length);
    at = end;
    if (length - before < SMALL_BYTES) {
      size = Math.min(2 * size, ZSTD_PIECE.most);
    } else {
      size = ZSTD_PIECE.least;
      await nextTurn();
    }
  }
  return Buffer.concat(pieces, length);
};

const decompressZstd: Codec =
  zstdDecompress === undefined
    ? portableZstd
    : (bytes, most) =>
        promisify(zstdDecompress)(bytes, { maxOutputLength: most }).catch(toTooLarge) as Promise<Buffer>;

/** The codecs, by their numbers in Kafka, of which 0 is none. */
export const CODECS: readonly (Codec | undefined)[] = [
  undefined,
  decompressGzip,
  decompressSnappy,
  decompressLz4,
  decompressZstd,
];

/** Unpacks the record batches of one fetch, which together become no more than one may. */
export class FetchUnpacking {
  #left = MAX_BYTES;

  /**
   * @param records how many the batch has
   * @returns undefined if it does not fit beside those before it: it is to be fetched again
   * @throws BatchTooLarge, Error
   */
  async unpack(codec: Codec, bytes: Buffer, records: number): Promise<Buffer | undefined> {
    const isFirst = this.#left === MAX_BYTES;
    const most = this.#left - records * RECORD_BYTES;
    this.#left = 0;
    try {
      if (most <= 0) throw new BatchTooLarge();
      const unpacked = await codec(bytes, most);
      this.#left = most - unpacked.length;
      return unpacked;
    } catch (thrown) {
      if (thrown instanceof BatchTooLarge && !isFirst) return undefined;
      throw thrown;
    }
  }
}

/** Into a buffer whose size the garbage collector knows. */
const COPIED = { copyOutputData: true };

/** A snappy block begins with the length of what it holds. */
async function snappyBlock(bytes: Buffer, most: number): Promise<Buffer> {
  let length = 0;
  for (let at = 0, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at];
    if (byte === undefined || shift > 28)
      throw new RangeError('expected a block of snappy, got something else');
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  if (length > most) throw new BatchTooLarge();
  if (length > SMALL_BYTES) await nextTurn();
  return uncompressSync(bytes, COPIED) as Buffer;
}

/** Where a frame of LZ4 ends, and how many bytes it becomes at most: its blocks are looked at, not what it claims. */
function lz4Frame(frame: Buffer): { end: number; bytes: number } {
  if (frame.length < 7 || frame.readUInt32LE(0) !== LZ4_MAGIC)
    throw new RangeError('expected a frame of LZ4, got something else');
  const flags = frame.readUInt8(4);
  // 64 KiB, 256 KiB, 1 MiB and 4 MiB are 4 to 7.
  const blockBytes = 2 ** (8 + 2 * ((frame.readUInt8(5) >> 4) & 7));
  const checksumBytes = flags & LZ4_BLOCK_CHECKSUM ? 4 : 0;
  let at = 7 + (flags & LZ4_CONTENT_SIZE ? 8 : 0) + (flags & LZ4_DICTIONARY ? 4 : 0);
  let bytes = 0;
  for (;;) {
    if (at + 4 > frame.length) throw new RangeError('a frame of LZ4 ends past its batch');
    const length = frame.readUInt32LE(at);
    at += 4;
    if (length === 0) break;
    const isPlain = length >= LZ4_UNCOMPRESSED;
    const data = isPlain ? length - LZ4_UNCOMPRESSED : length;
    bytes += Math.min(blockBytes, isPlain ? data : data * LZ4_RATIO);
    at += data + checksumBytes;
  }
  return { end: at + (flags & LZ4_CONTENT_CHECKSUM ? 4 : 0), bytes };
}

function toTooLarge(thrown: NodeJS.ErrnoException): never {
  throw thrown.code === 'ERR_BUFFER_TOO_LARGE' ? new BatchTooLarge() : thrown;
}
