import { crc32 } from 'node:zlib';
import {
  compressedJson,
  FLUSH,
  MOST_STORED_BYTES,
  storedBlocks,
  storedLength,
  STORED_HEADER_BYTES,
} from '../delivery/deflate.ts';
import { heldBytes, type FramedResult, type FrameFormat } from '../delivery/frame-format.ts';
import { checksumOf, joined, type Checksum } from './checksum.ts';
import { EVENT_STREAM } from './event-stream.ts';
import { MULTIPART } from './multipart.ts';
import type { StreamWire } from './stream-wire.ts';

/** Magic number, DEFLATE, no flags, no time, no level, unknown system (RFC 1952, 2.3). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** The last block of DEFLATE: an empty one. */
const LAST_BLOCK = Buffer.from([3, 0]);

/**
 * Frames for clients that accept gzip. A result is compressed once for all of them; what the wire has around it is stored:
 *
 *     ┌──────────────┬───────────────────┬────────────┬──────────────┬────┬───────┐
 *     │ block header │ event: next data: │ compressed │ block header │ \n │ flush │
 *     └──────────────┴───────────────────┴────────────┴──────────────┴────┴───────┘
 */
export class GzipFrames implements FrameFormat {
  readonly #plain: FrameFormat;
  readonly #minBytes: number;
  readonly #checksums = new WeakMap<FramedResult, Checksum>();

  /**
   * @param plain its pieces are the result, and what is before and behind it
   * @param minBytes of a result that is compressed; a shorter one is stored
   */
  constructor(plain: FrameFormat, minBytes: number) {
    this.#plain = plain;
    this.#minBytes = minBytes;
  }

  length(result: FramedResult): number {
    const length = this.#plain.length(result, 0);
    const compressed = compressedJson(result, this.#minBytes);
    if (compressed === undefined && length <= MOST_STORED_BYTES) return storedLength(length) + FLUSH.length;
    const json = compressed?.length ?? storedLength(result.json.length);
    return length - result.json.length + 2 * STORED_HEADER_BYTES + json + FLUSH.length;
  }

  held(result: FramedResult, idLength: number): number {
    return heldBytes(this.#plain, result, idLength);
  }

  write(target: Buffer, at: number, result: FramedResult): number {
    let end = at;
    for (const piece of this.pieces(result)) end += piece.copy(target, end);
    return end;
  }

  /** A large result is not copied. */
  pieces(result: FramedResult): Buffer[] {
    const plain = this.#plain.pieces(result, '');
    const compressed = compressedJson(result, this.#minBytes);
    if (compressed === undefined && this.#plain.length(result, 0) <= MOST_STORED_BYTES) {
      return [...storedBlocks(Buffer.concat(plain)), FLUSH];
    }
    const blocksOf = (piece: Buffer): Buffer | Buffer[] =>
      compressed !== undefined && piece === result.json ? compressed : storedBlocks(piece);
    return [...plain.flatMap(blocksOf), FLUSH];
  }

  /** Returns the checksum of the frame as it is unpacked: a response joins it to its own. */
  checksum(result: FramedResult): Checksum {
    let checksum = this.#checksums.get(result);
    if (checksum === undefined) {
      checksum = checksumOf(this.#plain.pieces(result, ''));
      this.#checksums.set(result, checksum);
    }
    return checksum;
  }
}

/** Returns the frames of each wire for clients that accept gzip. @param minBytes of a result that is compressed */
export function gzipFormats(minBytes: number): ReadonlyMap<StreamWire, GzipFrames> {
  return new Map([EVENT_STREAM, MULTIPART].map((wire) => [wire, new GzipFrames(wire.format, minBytes)]));
}

/** The body of one response: its frames, and what comes before, between and behind them. */
export class GzipBody {
  readonly frames: GzipFrames;
  #hasBegun = false;
  #crc = 0;
  #length = 0;

  constructor(frames: GzipFrames) {
    this.frames = frames;
  }

  /** Returns a text in the body's next blocks. */
  text(text: string): Buffer {
    const bytes = Buffer.from(text);
    this.#crc = crc32(bytes, this.#crc);
    this.#length += bytes.length;
    const blocks = [...storedBlocks(bytes), FLUSH];
    if (!this.#hasBegun) blocks.unshift(HEADER);
    this.#hasBegun = true;
    return Buffer.concat(blocks);
  }

  /** Counts a result whose frame is sent. */
  add(result: FramedResult): void {
    const checksum = this.frames.checksum(result);
    this.#crc = joined(this.#crc, checksum);
    this.#length += checksum.length;
  }

  /** Returns the end of the body: without it, clients take the response for cut off. */
  end(): Buffer {
    const end = Buffer.alloc(LAST_BLOCK.length + 8);
    LAST_BLOCK.copy(end);
    end.writeUInt32LE(this.#crc, LAST_BLOCK.length);
    end.writeUInt32LE(this.#length % 2 ** 32, LAST_BLOCK.length + 4);
    return end;
  }
}
