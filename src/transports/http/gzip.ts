import { crc32 } from 'node:zlib';
import { compressedJson, storedBlocks } from '../delivery/deflate.ts';
import { heldBytes, type FramedResult, type FrameFormat } from '../delivery/frame-format.ts';
import { checksumOf, joined, type Checksum } from './checksum.ts';
import { EVENT_STREAM } from './event-stream.ts';
import { MULTIPART } from './multipart.ts';
import type { StreamWire } from './stream-wire.ts';

/** Magic number, DEFLATE, no flags, no time, no level, unknown system (RFC 1952, 2.3). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** The last block of DEFLATE: an empty one. */
const LAST_BLOCK = Buffer.from([3, 0]);

interface Frame {
  readonly length: number;
  readonly checksum: Checksum;
}

/**
 * Frames for clients that accept gzip. A result is compressed once for all of them; what the wire has around it is stored:
 *
 *     ┌──────────────┬───────────────────┬────────────┬──────────────┬────┐
 *     │ block header │ event: next data: │ compressed │ block header │ \n │
 *     └──────────────┴───────────────────┴────────────┴──────────────┴────┘
 */
export class GzipFrames implements FrameFormat {
  readonly #plain: FrameFormat;
  readonly #minBytes: number;
  readonly #frames = new WeakMap<FramedResult, Frame>();

  /** @param minBytes of a result that is compressed; a shorter one is stored */
  constructor(plain: FrameFormat, minBytes: number) {
    this.#plain = plain;
    this.#minBytes = minBytes;
  }

  length(result: FramedResult): number {
    return this.#frame(result).length;
  }

  held(result: FramedResult, idLength: number): number {
    return heldBytes(this.#plain, result, idLength);
  }

  write(target: Buffer, at: number, result: FramedResult): number {
    let end = at;
    for (const piece of this.pieces(result)) end += piece.copy(target, end);
    return end;
  }

  pieces(result: FramedResult): Buffer[] {
    const plain = this.#plain.pieces(result, '');
    const compressed = compressedJson(result, this.#minBytes);
    if (compressed === undefined) return storedBlocks(Buffer.concat(plain));
    return plain.flatMap((piece) => (piece === result.json ? compressed : storedBlocks(piece)));
  }

  /** What the frame adds to the checksum of a response. */
  checksum(result: FramedResult): Checksum {
    return this.#frame(result).checksum;
  }

  #frame(result: FramedResult): Frame {
    let frame = this.#frames.get(result);
    if (frame === undefined) {
      const length = this.pieces(result).reduce((sum, piece) => sum + piece.length, 0);
      frame = { length, checksum: checksumOf(this.#plain.pieces(result, '')) };
      this.#frames.set(result, frame);
    }
    return frame;
  }
}

/** Returns the frames of each wire for clients that accept gzip. @param minBytes of a result that is compressed */
export function gzipFormats(minBytes: number): ReadonlyMap<StreamWire, GzipFrames> {
  return new Map([EVENT_STREAM, MULTIPART].map((wire) => [wire, new GzipFrames(wire.format, minBytes)]));
}

/** The body of one response, except for its frames: what comes before, between and behind them. */
export class GzipBody {
  #hasBegun = false;
  #crc = 0;
  #length = 0;

  /** Returns a text in the body's next blocks. */
  text(text: string): Buffer {
    const bytes = Buffer.from(text);
    this.#crc = crc32(bytes, this.#crc);
    this.#length += bytes.length;
    const blocks = storedBlocks(bytes);
    if (!this.#hasBegun) blocks.unshift(HEADER);
    this.#hasBegun = true;
    return Buffer.concat(blocks);
  }

  /** Counts a frame that is sent. */
  add(frame: Checksum): void {
    this.#crc = joined(this.#crc, frame);
    this.#length += frame.length;
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
