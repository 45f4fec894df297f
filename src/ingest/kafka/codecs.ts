import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { decompressFrameSync } from 'lz4-napi';
import { uncompressSync } from 'snappy';

/**
 * The most bytes that a record batch may have when unpacked. Brokers limit a batch to about 1 MB compressed; without a limit
 * here, batches made on purpose could fill the pod's memory.
 */
const MAX_BYTES = 64 * 1024 * 1024;

/** The most bytes of several batches of one fetch together: the pod holds those of the fetch before as well. */
const MAX_FETCH_BYTES = MAX_BYTES / 2;

/** What a record's objects take besides its bytes: a batch of 64 MiB could hold millions of empty records. */
const RECORD_BYTES = 1_024;

/** So many records are decoded in one turn of the event loop. */
export const RECORDS_PER_TURN = 4_096;

/** A batch that is larger when unpacked has a turn of the event loop to itself. */
const SMALL_BYTES = 2 * 1024 * 1024;

/** Begins snappy of Java clients, which write frames: a length (32 bits) and a block each. librdkafka sends one block. */
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
/** The most bytes that one byte of a block can become. */
const LZ4_RATIO = 255;

/** Compressed bytes of a piece of zstd, if Node.js has no zstd itself: four bytes may become 128 KiB. */
const ZSTD_PIECE = { least: 256, most: 16 * 1024 };

/** A record batch that is larger than the limit: it can't be read later either. */
export class BatchTooLarge extends RangeError {
  constructor() {
    super(
      `expected a record batch of at most ${MAX_BYTES} bytes, ${RECORD_BYTES} more for each record, got a larger one`,
    );
  }
}

/** @throws BatchTooLarge if the result would exceed `most` bytes; Error if the bytes are of another codec or damaged */
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
  // Not decompressFrame, which leaves its results in memory, as snappy's uncompress does. The garbage collector does not
  // know the size of a native buffer, but it knows that of the copy.
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

/** Zstd in JavaScript, for Node.js before 22.15. */
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

/** The codecs, by their numbers in Kafka; 0 is no codec. */
export const CODECS: readonly (Codec | undefined)[] = [
  undefined,
  decompressGzip,
  decompressSnappy,
  decompressLz4,
  decompressZstd,
];

/** Unpacks the record batches of one fetch. Only the first one may exceed the limit that they share. */
export class FetchUnpacking {
  /** Bytes of all batches before. */
  #used = 0;

  /**
   * @param records how many the batch has
   * @returns undefined if the batch does not fit beside those before it: it must be fetched again
   * @throws BatchTooLarge, Error
   */
  async unpack(codec: Codec, bytes: Buffer, records: number): Promise<Buffer | undefined> {
    const isFirst = this.#used === 0;
    const used = this.#used + records * RECORD_BYTES;
    this.#used = Infinity;
    const most = (isFirst ? MAX_BYTES : MAX_FETCH_BYTES) - used;
    try {
      if (most <= 0) throw new BatchTooLarge();
      const unpacked = await codec(bytes, most);
      this.#used = used + unpacked.length;
      return unpacked;
    } catch (thrown) {
      if (thrown instanceof BatchTooLarge && !isFirst) return undefined;
      throw thrown;
    }
  }
}

/** Copies the output to a buffer of which the garbage collector knows the size. */
const COPIED = { copyOutputData: true };

/** A snappy block begins with the length of its content. */
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

/** Returns where a frame of LZ4 ends, and the most bytes that it can become: by its blocks, not by what it claims. */
function lz4Frame(frame: Buffer): { end: number; bytes: number } {
  if (frame.length < 7 || frame.readUInt32LE(0) !== LZ4_MAGIC)
    throw new RangeError('expected a frame of LZ4, got something else');
  const flags = frame.readUInt8(4);
  // The values 4 to 7 stand for 64 KiB, 256 KiB, 1 MiB and 4 MiB.
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
